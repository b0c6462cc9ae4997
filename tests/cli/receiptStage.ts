/**
 * Shared by the tests of receipts: a marketplace with an agent that names executions, and a node that a test can make
 * lie.
 */
import { expect } from 'chai';
import { createClient } from '../../app/sdk/client/client.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { executionMessage, hashResult, requestHash, signMessage } from '../../app/sdk/receipt/receipt.ts';
import { CHECKS, type Check, type CheckName, verifyReceipt } from '../../app/sdk/receipt/verify.ts';
import type { Receipt } from '../../app/sdk/wire/receipt.ts';
import { failedAnswer, goodAnswer, useMarketplace } from '../harness/node/marketplace.ts';
import { type CallRule, type RpcProxy, startRpcProxy } from '../harness/node/rpcProxy.ts';
import { type Run, runHere, useTerminal } from './run.ts';

/** Checks that need no node. */
export const PURE: CheckName[] = ['shape', 'result_hash', 'signature', 'request_hash', 'execution_signature'];
/** An address where no server listens. */
export const NOBODY = 'http://127.0.0.1:1';

export const named = (checks: Check[], state: Check['state']): CheckName[] =>
  checks.flatMap((check) => (check.state === state ? [check.name] : []));
export const of = (checks: Check[], name: CheckName): Check => checks.find((check) => check.name === name)!;

export function useReceiptStage() {
  const market = useMarketplace({ environment: { ARCHIVE: 'off' } });
  const terminal = useTerminal(() => market.node.rpcUrl);
  let proxy: RpcProxy;
  let client: ReturnType<typeof createClient>;
  before(async () => {
    proxy = await startRpcProxy(market.node);
    client = createClient({ baseUrl: market.relay.url, apiKey: market.callers[0]!.apiKey });
    market.setBehaviour((body, _, reply) => {
      if (body.task === 'fail') return reply(failedAnswer(body.execution_id));
      const request = Buffer.from(requestHash(body.task, body.parameters)).toString('hex');
      const result = `done: ${body.task}`;
      const message = executionMessage(PROGRAM_ID.toBase58(), body.execution_id, request, hashResult(result));
      const execution_signature = signMessage(market.signingKey, message);
      reply({ ...goodAnswer(market.signingKey, body.execution_id, result), execution_signature });
    });
  });
  after(() => proxy?.close());
  return {
    market,
    terminal,
    get proxy() {
      return proxy;
    },
    get client() {
      return client;
    },
    async pay(task: string): Promise<string> {
      const answer = await client.request('executeAgent', {
        agent_id: market.agentId,
        body: { task, parameters: { of: [1, 2] } },
      });
      expect(answer.status).to.equal('completed');
      return answer.execution_id;
    },
    take: (id: string, ...words: string[]) =>
      terminal.done(market.callers[0]!.wallet, 'execution', 'receipt', id, '--base-url', market.relay.url, ...words),
    write: (name: string, given: unknown): string => terminal.file(name, JSON.stringify(given)),
    /** Runs `execution verify`, with a service or without one. */
    run: (given: string, rpcUrl = market.node.rpcUrl, baseUrl = NOBODY): Promise<Run> =>
      runHere(['execution', 'verify', given, '--rpc-url', rpcUrl, '--base-url', baseUrl, '--json']),
    /** Verifies with the library, while `rule` changes the node's answers. */
    async verifyBy(rule: CallRule | null, given: Receipt): Promise<Check[]> {
      proxy.onCall(rule);
      const checks = await verifyReceipt(given, { rpcUrl: proxy.rpcUrl });
      proxy.onCall(null);
      expect(checks.map(({ name }) => name)).to.deep.equal([...CHECKS]);
      for (const { state, reason } of checks) if (state === 'not_checked') expect(reason).to.be.a('string');
      return checks;
    },
  };
}
