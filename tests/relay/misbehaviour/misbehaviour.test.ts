/**
 * Misbehaving creators against the real relay on a real node, over real HTTP. Each test checks the exact answer, all
 * balances, and the number of calls. The relay's memory must not grow.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { KEY_DIRECTORY_PATH } from '../../../app/sdk/creator/callSignature.ts';
import {
  type CallPurpose,
  createExecutionHandler,
  generateSigningKey,
  signingKeyAddress,
} from '../../../app/sdk/creator/creator.ts';
import { hashResult } from '../../../app/sdk/receipt/receipt.ts';
import { openSession } from '../../../app/sdk/wallet/service.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { delist, replaceSigningKey } from '../../../app/sdk/wallet/upkeep.ts';
import { useServers } from '../../harness/edge/listen.ts';
import {
  type Answer,
  afterPaying,
  type Balances,
  type Behaviour,
  goodAnswer,
  PRICE,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { type Case, misbehaviours } from './cases.ts';

const MAX_GROWTH_BYTES = 50 * 1024 * 1024;
/** At most this many runs of a case that exceeds the memory limit. */
const RUNS = 4;

/** Parallel callers, and the calls that each makes after the rotation before the test ends. */
const CALLERS = 4;
const CALLS_AFTER = 4;

/** The process's memory in bytes: now (VmRSS), or its peak since `forgetPeak` (VmHWM). */
function memoryOf(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)![1]) * 1024;
}
const forgetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, '5');

describe('creators that misbehave', () => {
  const key = generateSigningKey();
  const stranger = generateSigningKey();
  let worst = { name: '', bytes: 0 };

  const market = useMarketplace({ signingKey: key });
  before(async () => {
    // Warms up: memory that every process needs once does not count.
    for (let i = 0; i < 5; i += 1) await execute({ task: 'x'.repeat(100_000) });
  });
  after(async () => {
    console.log(`      most memory: ${(worst.bytes / 1024 / 1024).toFixed(1)} MiB more, by "${worst.name}"`);
  });

  const execute = (body: object) => market.execute(market.relay.url, body);

  for (const [kind, cases] of Object.entries(misbehaviours(key, stranger))) {
    describe(kind, () => {
      for (const [name, behave, end, calls] of cases) {
        const outcome = 'result' in end ? 'paid' : `answered with ${end.status} and refunded to the unit`;
        it(`${name}: the call is ${outcome}`, async () => {
          // Memory that an answer needs grows in every run. Garbage that is not yet collected appears only in some.
          const grown: number[] = [];
          do grown.push(await run(`${kind}: ${name}`, behave, end, calls));
          while (grown.at(-1)! >= MAX_GROWTH_BYTES && grown.length < RUNS);
          const least = Math.min(...grown);
          if (least > worst.bytes) worst = { name: `${kind}: ${name}`, bytes: least };
          expect(least, `${least} bytes more`).to.be.lessThan(MAX_GROWTH_BYTES);
        });
      }
    });
  }

  /** Runs one call of a case. Returns the peak growth of the relay's memory, in bytes. */
  async function run(name: string, behave: Case[1], end: Case[2], calls?: number): Promise<number> {
    market.setBehaviour(behave);
    const pid = market.relay.process!.pid!;
    const before = await market.balances();
    const memory = memoryOf(pid, 'VmRSS');
    forgetPeak(pid);
    const isLate = 'status' in end && end.status === 408;
    const send = () => execute({ task: name, timeout_seconds: isLate ? 1 : 30 });
    let answer = await send();
    // On a busy machine no attempt may end within the second.
    for (let again = 0; isLate && again < 3 && !end.message.test(answer.body.error?.message); again += 1) {
      answer = await send();
    }
    const grown = memoryOf(pid, 'VmHWM') - memory;
    const after = await market.balances();
    let id: string;
    if ('result' in end) {
      expect(answer.status, answer.text.slice(0, 500)).to.equal(200);
      expect(answer.body.status).to.equal('completed');
      expect(hashResult(answer.body.result)).to.equal(hashResult(end.result)).and.to.equal(answer.body.result_hash);
      expect(after).to.deep.equal(afterPaying(before));
      id = answer.body.execution_id;
      expect((await market.record(id))?.status).to.equal('completed');
    } else {
      expect(answer.status, answer.text.slice(0, 500)).to.equal(end.status);
      const { error } = answer.body;
      expect(error.code).to.equal(isLate ? 'execution_timeout' : 'execution_failed');
      expect(error.message)
        .to.match(end.message)
        .and.match(/Escrow refunded$/);
      expect(after).to.deep.equal(before);
      id = error.execution_id;
      expect((await market.record(id))?.status).to.equal('refunded');
      const { body: record } = await market.read(market.relay.url, id);
      expect(record).to.include({ status: 'failed', cost_usdc: 0, result: null, result_hash: null, refund: 'done' });
      expect(record.error.code).to.equal(error.code);
    }
    expect(await market.escrowExists(id)).to.equal(false);
    if (calls !== undefined) expect(market.calls.get(id)).to.equal(calls);
    return grown;
  }

  describe('around the answer', () => {
    beforeEach(() => market.setBehaviour(null));

    const execute = (body: object, agent?: string) => market.execute(market.relay.url, body, { agent });

    async function assertPaid(answer: Answer, before: Balances, times = 1n): Promise<void> {
      expect(answer.status, answer.text).to.equal(200);
      expect(await market.balances()).to.deep.equal(afterPaying(before, times));
    }

    async function assertRefunded(answer: Answer, before: Balances, status: number, message: RegExp): Promise<string> {
      expect(answer.status, answer.text).to.equal(status);
      expect(answer.body.error.message)
        .to.match(message)
        .and.match(/Escrow refunded$/);
      expect(await market.balances()).to.deep.equal(before);
      const id = answer.body.error.execution_id;
      expect((await market.record(id))?.status).to.equal('refunded');
      return id;
    }

    /** Answers correctly once `meanwhile` has happened. */
    const answerAfter =
      (meanwhile: () => Promise<unknown>, signingKey = market.signingKey): Behaviour =>
      (body, _response, reply) =>
        void meanwhile().then(() => reply(goodAnswer(signingKey, body.execution_id, 'x')));

    it("shows each ended call to the agent's creator alone: what was sent, and the raw answer", async () => {
      const page = `<html>${'x'.repeat(20_000)}`;
      const behaviours: (Behaviour | null)[] = [
        (_body, response) => void response.end(page),
        (_body, response) => void response.writeHead(418).end('no model loaded'),
        null,
      ];
      const asked = { task: 'Read this', parameters: { page: 1 } };
      for (const behave of behaviours) {
        market.setBehaviour(behave);
        await execute(asked);
      }
      const service = { baseUrl: market.relay.url };
      const session = await openSession(service, keypairSigner(market.creator));
      const { calls } = await session.call('listings.calls', { agent_id: market.agentId, limit: 3 });
      expect(calls.map(({ status, http_status }) => [status, http_status])).to.deep.equal([
        ['completed', 200],
        ['failed', 418],
        ['failed', 200],
      ]);
      expect(calls[2]?.error?.message).to.match(/is not valid JSON/);
      const contents = await Promise.all(
        calls.map(({ execution_id }) => session.call('listings.call', { execution_id })),
      );
      expect(contents.map(({ answer }) => answer)).to.deep.equal([
        { kind: 'result', text: 'done: Read this', is_cut: false },
        { kind: 'body', text: 'no model loaded', is_cut: false },
        { kind: 'body', text: page.slice(0, 16 * 1024), is_cut: true },
      ]);
      for (const { call, request: sent } of contents) {
        const { timeout_seconds, ...rest } = JSON.parse(sent!);
        const user_pubkey = market.callers[0]!.wallet.publicKey.toBase58();
        expect(rest).to.deep.equal({ execution_id: call.execution_id, user_pubkey, ...asked });
      }
    });

    describe('too late', () => {
      it('refunds the caller, pays nobody and shows the result to nobody', async () => {
        let letGo = (): void => undefined;
        market.setBehaviour((body, _response, reply) => {
          letGo = () => reply(goodAnswer(market.signingKey, body.execution_id, 'too late'));
        });
        const before = await market.balances();
        const answer = await execute({ task: 'x', timeout_seconds: 1 });
        const id = await assertRefunded(answer, before, 408, /did not respond within 1 seconds/);
        letGo();
        // The same relay answers the next call after the late answer was sent to a closed connection.
        market.setBehaviour(null);
        expect((await execute({ task: 'x' })).status).to.equal(200);
        expect((await market.record(id))?.status).to.equal('refunded');
        const shown = await market.read(market.relay.url, id);
        expect(shown.body).to.include({
          status: 'failed',
          result: null,
          result_hash: null,
          ipfs_url: null,
          cost_usdc: 0,
        });
        expect(shown.text).to.not.include('too late');
      });
    });

    describe('twice', () => {
      it('ignores a second answer on one connection: the first is paid once, and the next call is unaffected', async () => {
        market.setBehaviour((body, response) => {
          const http = (result: string) => {
            const json = JSON.stringify(goodAnswer(market.signingKey, body.execution_id, result));
            return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`;
          };
          response.socket!.write(http('first') + http('second'));
        });
        const before = await market.balances();
        const answer = await execute({ task: 'x' });
        await assertPaid(answer, before);
        expect(answer.body.result).to.equal('first');
        market.setBehaviour(null);
        const between = await market.balances();
        const next = await execute({ task: 'mine' });
        await assertPaid(next, between);
        expect(next.body.result).to.equal('done: mine');
      });

      it('accepts a repeated result of the same creator, because the signature covers only the result', async () => {
        const old = (await execute({ task: 'x' })).body;
        market.setBehaviour((body, _response, reply) =>
          reply({ ...goodAnswer(market.signingKey, old.execution_id, old.result), execution_id: body.execution_id }),
        );
        const before = await market.balances();
        const answer = await execute({ task: 'y' });
        await assertPaid(answer, before);
        expect(answer.body.result_hash).to.equal(old.result_hash);
      });
    });

    describe('the listing changes during the call', () => {
      /** A new agent, because the change cannot be undone. */
      async function newAgent(name: string) {
        const signingKey = generateSigningKey();
        market.setBehaviour((body, _response, reply) => reply(goodAnswer(signingKey, body.execution_id, 'x')));
        const agentId = await market.list({ name, endpoint: market.endpoint, signingKey });
        return { agentId, signingKey, address: new PublicKey(agentId) };
      }

      // That a new signing key changes nothing for it is tested below.
      it('pays a running call that is signed with the key of its open, after the listing is delisted', async () => {
        const { agentId, signingKey, address } = await newAgent('delisted');
        const wallet = keypairSigner(market.creator);
        market.setBehaviour(answerAfter(() => delist(market.marketplace, { wallet, agentId: address }), signingKey));
        const before = await market.balances();
        await assertPaid(await execute({ task: 'x' }, agentId), before);
      });

      it('refunds a running call that is signed with the new key', async () => {
        const { agentId, address } = await newAgent('rotating-early');
        const next = generateSigningKey();
        const change = { wallet: keypairSigner(market.creator), agentId: address, signingKey: next };
        market.setBehaviour(answerAfter(() => replaceSigningKey(market.marketplace, change), next));
        const before = await market.balances();
        const answer = await execute({ task: 'x' }, agentId);
        await assertRefunded(answer, before, 500, /is not a valid signature of result_hash/);
      });
    });

    describe('calls to several agents', () => {
      const start = useServers();
      const serve = async (listener: RequestListener) => `${await start(listener)}/execute`;
      const trusted = () => ({ directoryUrl: `${market.relay.url}${KEY_DIRECTORY_PATH}` });
      const call = (agent: string, task: string, caller = 0) =>
        market.execute(market.relay.url, { task }, { agent, caller });

      it('lose no call when a key changes under load: each call names the key that signed it', async () => {
        const [old, fresh] = [generateSigningKey(), generateSigningKey()];
        const named = new Map<string, string | null>();
        const endpoint = await serve(
          createExecutionHandler({
            signingKey: [fresh, old],
            verify: trusted(),
            execute({ task, executionId, signingKey }) {
              named.set(executionId, signingKey);
              return { result: `done: ${task}` };
            },
          }),
        );
        const agentId = await market.list({ name: 'rotating-agent', endpoint, signingKey: old });
        const before = await market.balances();
        const ids: string[] = [];
        let isRotated = false;

        async function keepCalling(caller: number): Promise<void> {
          for (let left = CALLS_AFTER; left > 0; left -= isRotated ? 1 : 0) {
            const answer = await call(agentId, `of ${caller}`, caller % market.callers.length);
            expect([answer.status, answer.body.result], answer.text).to.deep.equal([200, `done: of ${caller}`]);
            ids.push(answer.body.execution_id);
          }
        }
        const calling = Array.from({ length: CALLERS }, (_, caller) => keepCalling(caller));
        const all = Promise.all(calling);
        while (ids.length < CALLERS) await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 20))]);
        const { wallet, agent } = { wallet: keypairSigner(market.creator), agent: new PublicKey(agentId) };
        await replaceSigningKey(market.marketplace, { wallet, agentId: agent, signingKey: fresh });
        isRotated = true;
        await all;

        const recorded = await Promise.all(ids.map(async (id) => (await market.record(id))!.signingKey.toBase58()));
        expect(new Set(recorded)).to.deep.equal(new Set([old, fresh].map(signingKeyAddress)));
        expect(ids.map((id) => named.get(id))).to.deep.equal(recorded);
        const after = await market.balances();
        const paid = before.callers.reduce((sum, had, index) => sum + had - after.callers[index]!, 0n);
        expect(paid).to.equal(PRICE * BigInt(ids.length));
      });

      it('name their purpose, and have a new nonce with each retry, which a server that rejects repeated nonces accepts', async () => {
        const signingKey = generateSigningKey();
        const purposes: CallPurpose[] = [];
        const handle = createExecutionHandler({
          signingKey,
          verify: trusted(),
          execute({ task, purpose }) {
            purposes.push(purpose);
            return { result: task };
          },
        });
        const nonces: string[] = [];
        let isListed = false;
        const endpoint = await serve((request, response) => {
          const [, nonce = ''] = /nonce="([^"]+)"/.exec(String(request.headers['signature-input'])) ?? [];
          const status = nonces.includes(nonce) ? 401 : isListed && nonces.length === 1 ? 503 : 200;
          nonces.push(nonce);
          if (status === 200) handle(request, response);
          else response.writeHead(status).end();
        });
        const agentId = await market.list({ name: 'wary-agent', endpoint, signingKey });
        isListed = true;
        nonces.length = 1;
        const answer = await call(agentId, 'again');
        expect([answer.status, answer.body.result], answer.text).to.deep.equal([200, 'again']);
        expect(nonces).to.have.length(3);
        expect(nonces).to.not.include(answer.body.execution_id);
        expect(purposes).to.deep.equal(['test', 'execution']);
      });
    });
  });
});
