/**
 * The demo creators' process as the local network starts it: forked, controlled by messages, called over HTTP. Answers
 * are checked as the marketplace does, but with tweetnacl and node:crypto.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import bs58 from 'bs58';
import { expect } from 'chai';
import nacl from 'tweetnacl';
import type { FromCreators, ListeningMessage, StartMessage, ToCreators } from '../../app/local/creators/main.ts';
import { forkSource } from '../../app/process/typescript.ts';

const MAIN = fileURLToPath(new URL('../../app/local/creators/main.ts', import.meta.url));

export type RunningAgent = ListeningMessage['agents'][number];

export type Creators = ReturnType<typeof forkCreators>;

/** Forks the process. Without `givenDir` it has a directory of its own, until it stops. */
export function forkCreators(givenDir?: string) {
  const dataDir = givenDir ?? mkdtempSync(join(tmpdir(), 'creators-'));
  const child = forkSource(MAIN, []);
  /** Sends a message and waits for its answer. */
  const ask = async (message: ToCreators): Promise<FromCreators> => {
    const answer = once(child, 'message');
    child.send(message);
    return (await answer)[0];
  };
  return {
    child,
    dataDir,
    ask,
    /** Starts these agents, on free ports by default. Throws if one cannot start. */
    async start(agents: (Partial<StartMessage['agents'][number]> & { name: string })[]) {
      const complete = agents.map((agent) => ({ port: 0, signingKeyPath: `keys/${agent.name}.json`, ...agent }));
      const answer = await ask({ type: 'start', dataDir, agents: complete });
      if (answer.type !== 'listening') throw new Error(JSON.stringify(answer));
      return new Map(answer.agents.map((agent) => [agent.name, agent]));
    },
    /** Ends the process and waits for its end. */
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.disconnect();
        await once(child, 'exit');
      }
      if (!givenDir) rmSync(dataDir, { recursive: true });
    },
  };
}

let serial = 0;

/** A request as the marketplace sends it, with a new execution_id. */
export function execution(task: string, parameters: object = {}, timeoutSeconds = 60) {
  serial += 1;
  return {
    execution_id: `00000000-0000-8000-8000-${serial.toString(16).padStart(12, '0')}`,
    task,
    parameters,
    user_pubkey: '11111111111111111111111111111111',
    timeout_seconds: timeoutSeconds,
  };
}

export async function post(url: string, request: object): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) });
  return { status: response.status, text: await response.text() };
}

/** Posts, checks that the answer is completed and fully valid, and returns its result. */
export async function complete(agent: RunningAgent, request: ReturnType<typeof execution>): Promise<string> {
  const { status, text } = await post(agent.url, request);
  expect(status, text).to.equal(200);
  const answer = JSON.parse(text);
  expect(answer, text.slice(0, 500)).to.include({ execution_id: request.execution_id, status: 'completed' });
  expect(answer.result_hash).to.equal(sha256(answer.result));
  expect(isSigned(agent, answer.result_hash, answer.signature)).to.equal(true);
  return answer.result;
}

/** Posts, checks that the answer has exactly the failure shape, and returns the reason. */
export async function fail(agent: RunningAgent, request: ReturnType<typeof execution>): Promise<string> {
  const { status, text } = await post(agent.url, request);
  expect(status, text).to.equal(200);
  const { error, ...rest } = JSON.parse(text);
  expect(rest).to.deep.equal({
    execution_id: request.execution_id,
    status: 'failed',
    result: null,
    result_hash: null,
    signature: null,
  });
  expect(error).to.be.a('string').with.length.within(1, 500);
  return error;
}

export function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
}

export function isSigned(agent: RunningAgent, resultHash: string, signature: string): boolean {
  expect(signature).to.match(/^ed25519:/);
  const bytes = bs58.decode(signature.slice('ed25519:'.length));
  return nacl.sign.detached.verify(Buffer.from(resultHash), bytes, bs58.decode(agent.signingKey));
}
