/** The parent's side of the demo creators' process: starts it, asks it to listen, tells it what is listed. */

import { fork } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TYPESCRIPT_ARGS } from '../process/typescript.ts';
import { KEY_DIRECTORY_PATH } from '../sdk/creator/callSignature.ts';
import { demoAgents } from './creators/definitions.ts';
import type { FromCreators, StartMessage, ToCreators } from './creators/main.ts';

/** How long a port of the last run may stay taken, by the process that is just ending, before another is used. */
const PORT_PATIENCE_MS = 1_500;
const PORT_RETRY_MS = 100;

/** Ports by agent name. */
export type Ports = Record<string, number>;

/** Where a demo server takes executions. */
export const endpointOf = (port: number): string => `http://127.0.0.1:${port}/execute`;

/** A server's signing key, which its creator also needs for listing the agent. */
export const signingKeyPath = (demoDir: string, name: string): string => join(demoDir, `signing-key-${name}.json`);

const portsPath = (demoDir: string): string => join(demoDir, 'ports.json');

/** The ports of the last run; empty before the first. */
export function readPorts(demoDir: string): Ports {
  return existsSync(portsPath(demoDir)) ? JSON.parse(readFileSync(portsPath(demoDir), 'utf8')) : {};
}

export type DemoServers = ReturnType<typeof forkDemoServers>;

/** Starts the process; nothing listens yet. */
export function forkDemoServers(demoDir: string) {
  const child = fork(join(import.meta.dirname, 'creators', 'main.ts'), [], {
    execArgv: TYPESCRIPT_ARGS,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });

  /** Sends a message and returns the first answer that `isAnswer`. */
  function ask(message: ToCreators, isAnswer: (answer: FromCreators) => boolean): Promise<FromCreators> {
    return new Promise((resolve, reject) => {
      const onMessage = (answer: FromCreators) => {
        if (!isAnswer(answer)) return;
        child.off('message', onMessage);
        resolve(answer);
      };
      child.on('message', onMessage);
      exited.then((end) => reject(new Error(`the demo creators' process ended (${end})`)));
      child.send(message, (error) => error && reject(error));
    });
  }

  return {
    exited,
    stop: () => void child.kill('SIGKILL'),

    /**
     * Listens on these ports, a free one where there is none or where another program has taken it. `listed` names the
     * agents that are listed under their port already and so behave as documented at once. Returns the ports in use.
     */
    async listen(wanted: Ports, listed: ReadonlySet<string>): Promise<Ports> {
      const ports = { ...wanted };
      const patientUntil = Date.now() + PORT_PATIENCE_MS;
      for (;;) {
        const agents = demoAgents.map(({ name }) => ({
          name,
          port: ports[name] ?? 0,
          signingKeyPath: signingKeyPath(demoDir, name),
          listed: listed.has(name) && ports[name] === wanted[name],
        }));
        const start: StartMessage = { type: 'start', dataDir: demoDir, agents };
        const answer = await ask(start, ({ type }) => type === 'listening' || type === 'error');
        if (answer.type === 'listening') {
          const inUse = Object.fromEntries(answer.agents.map(({ name, port }) => [name, port]));
          writeFileSync(portsPath(demoDir), `${JSON.stringify(inUse, null, 2)}\n`, { mode: 0o600 });
          return inUse;
        }
        if (answer.type !== 'error' || answer.code !== 'EADDRINUSE' || answer.port === 0) {
          throw new Error(`the demo creators cannot start: ${answer.type === 'error' ? answer.message : answer.type}`);
        }
        if (Date.now() < patientUntil) await delay(PORT_RETRY_MS);
        else ports[answer.name] = 0;
      }
    },

    /** From here on only calls that this marketplace signed are answered. */
    async setTrusted(baseUrl: string): Promise<void> {
      const directoryUrl = `${baseUrl}${KEY_DIRECTORY_PATH}`;
      await ask({ type: 'trust', directoryUrl }, ({ type }) => type === 'trust');
    },

    /** The agent is listed now: its server behaves as documented from here on. */
    async setListed(name: string): Promise<void> {
      await ask({ type: 'listed', name }, (answer) => answer.type === 'listed' && answer.name === name);
    },
  };
}
