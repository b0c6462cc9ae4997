/** POST /v1/agents/{agent_id}/execute at the API: the order of checks, every outcome and error. */

import canonicalize from 'canonicalize';
import { expect } from 'chai';
import { ApiError } from '../../../app/relay/errors.ts';
import type { ExecuteOutcome } from '../../../app/relay/execution/contract.ts';
import { requestHash } from '../../../app/sdk/receipt/receipt.ts';
import { ERRORS, type ErrorCode } from '../../../app/sdk/wire/wire.ts';
import { EXPLORER_QUERY, type World } from '../../harness/edge/api.ts';
import { newAddress, newExecutionId, type TestKey } from '../../harness/edge/rows.ts';
import { type Executing, INPUT_SCHEMA, startExecuting } from './executing.ts';

describe('POST /v1/agents/{agent_id}/execute', () => {
  let world: World;
  let key: TestKey;
  let listing: string;
  let open: string;
  let execute: Executing['execute'];
  before(async () => {
    ({ world, key, listing, open, execute } = await startExecuting());
  });
  beforeEach(() => {
    world.state.executed.length = 0;
    world.state.execute = async () => ({ kind: 'pending', executionId: newExecutionId() });
  });
  after(() => world.stop());

  describe('in its answer', () => {
    it('returns 200 with every field of a completed execution', async () => {
      const executionId = newExecutionId();
      const outcome: ExecuteOutcome = {
        kind: 'completed',
        executionId,
        result: Buffer.from('Rome ☀', 'utf8'),
        resultHash: `sha256:${'0a'.repeat(32)}`,
        price: 250_000n,
        tokensUsed: 7,
        executionTimeMs: 12,
        settleSignature: '5igNature',
        resultToken: 'tok-en',
      };
      world.state.execute = async () => outcome;
      const { status, json } = await execute({ task: 'Which city is warmest?' });
      expect(status).to.equal(200);
      expect(json).to.deep.equal({
        execution_id: executionId,
        status: 'completed',
        result: 'Rome ☀',
        result_hash: `sha256:${'0a'.repeat(32)}`,
        cost_usdc: 0.25,
        tokens_used: 7,
        execution_time_ms: 12,
        on_chain_record: `https://explorer.solana.com/tx/5igNature${EXPLORER_QUERY}`,
        ipfs_url: `${world.url}/results/${executionId}/tok-en`,
      });
      world.state.execute = async () => ({ ...outcome, tokensUsed: null });
      expect((await execute({ task: 'again' })).json.tokens_used).to.equal(null);
    });

    it('returns 200 pending for an asynchronous execution whose escrow is confirmed', async () => {
      const executionId = newExecutionId();
      world.state.execute = async () => ({ kind: 'pending', executionId });
      const { status, json } = await execute({ task: 'x', async: true });
      expect(status).to.equal(200);
      expect(json).to.deep.equal({ execution_id: executionId, status: 'pending' });
    });

    it('returns 202 running while the outcome is unknown', async () => {
      const executionId = newExecutionId();
      world.state.execute = async () => ({ kind: 'running', executionId });
      const { status, json } = await execute({ task: 'x' });
      expect(status).to.equal(202);
      expect(json).to.deep.equal({ execution_id: executionId, status: 'running' });
    });

    const shortage = { limit: 'balance' as const, wallet: 'W', have_usdc: 0.1, need_usdc: 0.25 };
    const options = { executionId: newExecutionId(), retryAfterSeconds: 5 };
    const REFUSALS: ApiError[] = [
      new ApiError('insufficient_balance', 'a reason', { ...options, details: shortage }),
      new ApiError('insufficient_balance', 'a reason', { ...options, details: { ...shortage, have_usdc: null } }),
      new ApiError('execution_timeout', 'a reason', options),
      new ApiError('price_changed', 'a reason', { ...options, details: { price_usdc: 0.3, max_cost_usdc: 0.25 } }),
      new ApiError('agent_paused', 'a reason', options),
      new ApiError('execution_failed', 'a reason', options),
      new ApiError('service_unavailable', 'a reason', options),
      new ApiError('invalid_request', 'a reason', { ...options, details: { issues: [] } }),
    ];
    for (const refusal of REFUSALS) {
      const { code, details } = refusal;
      it(`returns ${ERRORS[code].status} ${code} with its execution_id and details ${JSON.stringify(details)}`, async () => {
        world.state.execute = async () => {
          throw refusal;
        };
        const { status, json, headers } = await execute({ task: 'x' });
        expect(status).to.equal(ERRORS[code].status);
        const { executionId } = options;
        expect(json).to.deep.equal({ error: { code, message: 'a reason', execution_id: executionId, details } });
        expect(headers.get('retry-after')).to.equal('5');
      });
    }

    it('never sends an answer that does not fit its schema', async () => {
      world.state.execute = async () => ({ kind: 'pending', executionId: 7 as unknown as string });
      const { status, json } = await execute({ task: 'x' });
      expect([status, json.error.code]).to.deep.equal([500, 'internal_error']);
    });

    it('returns 500 internal_error without any detail of the fault', async () => {
      world.state.execute = async () => {
        throw new TypeError('secret of the house');
      };
      const { status, json, headers, text } = await execute({ task: 'x' });
      expect(status).to.equal(500);
      expect(json.error).to.include({ code: 'internal_error', execution_id: null });
      expect(json.error.message).to.include(headers.get('x-request-id'));
      expect(text).to.not.include('secret');
    });
  });

  describe('for the engine', () => {
    it('passes wallet, agent and defaults: no parameters, synchronous, timeout and price of the listing', async () => {
      await execute({ task: ' x ' });
      expect(world.state.executed).to.deep.equal([
        {
          principal: { wallet: key.wallet, keyId: key.keyId, keyHash: key.keyHash, allowedAgents: null },
          agentId: open,
          input: {
            task: ' x ',
            parameters: '{}',
            requestHash: Buffer.from(requestHash(' x ')).toString('hex'),
            async: false,
            timeoutSeconds: 60,
            maxCost: 250_000n,
            arrivedMs: world.state.executed[0]?.input.arrivedMs,
          },
        },
      ]);
    });

    it('passes every option of a caller', async () => {
      const parameters = { csv: 'a,b', mode: 3, when: '2026-02-28', limits: { rows: 5 }, names: ['x', 'y'] };
      const body = { task: 'ü', parameters, async: true, timeout_seconds: 2, max_cost_usdc: 0.123456 };
      const { status } = await execute(body, listing);
      expect(status).to.equal(200);
      expect(world.state.executed[0]!.input).to.deep.equal({
        task: 'ü',
        parameters: canonicalize(parameters),
        requestHash: Buffer.from(requestHash('ü', parameters)).toString('hex'),
        async: true,
        timeoutSeconds: 2,
        maxCost: 123_456n,
        arrivedMs: world.state.executed[0]?.input.arrivedMs,
      });
    });

    it('passes bodies at the limits: 1 MiB, 64 levels, and a charset in the media type', async () => {
      const task = 'x'.repeat(1024 * 1024 - '{"task":""}'.length);
      expect((await execute(`{"task":"${task}"}`)).status).to.equal(200);
      const nested = `${'{"a":'.repeat(62)}1${'}'.repeat(62)}`;
      expect((await execute(`{"task":"x","parameters":{"a":${nested}}}`)).status).to.equal(200);
      for (const parameters of ['charset=UTF-8', 'charset=utf8', 'Charset = "utf-8"', 'charset=us-ascii', 'v=1', '']) {
        const headers = { 'content-type': `application/json; ${parameters}` };
        expect((await execute({ task: 'x' }, open, headers)).status, parameters).to.equal(200);
      }
    });
  });

  describe('before it opens', () => {
    /** Each request fails every check from its place on, so only the order of checks decides the answer. */
    it('checks size, media type, key, agent, status, body, parameters and money in this order', async () => {
      const paused = await world.addListing({ status: 'paused' }, { input_schema: INPUT_SCHEMA });
      const tooLarge = 'x'.repeat(1024 * 1024 + 1);
      const text = { 'content-type': 'text/plain' };
      world.state.execute = async () => {
        throw new ApiError('insufficient_balance', 'no money');
      };
      const steps: [path: string, body: string, headers: Record<string, string>, key: string, code: ErrorCode][] = [
        ['nobody', tooLarge, text, 'crtx_live_x', 'payload_too_large'],
        ['nobody', '{', text, 'crtx_live_x', 'unsupported_media_type'],
        ['nobody', '{', {}, 'crtx_live_x', 'wrong_environment'],
        ['nobody', '{', {}, 'crtx_test_x', 'unauthorized'],
        ['nobody', '{', {}, key.apiKey, 'agent_not_found'],
        [paused, '{', {}, key.apiKey, 'agent_paused'],
        [listing, '{"parameters":{}', {}, key.apiKey, 'invalid_request'],
        [listing, '{"task":"x","parameters":{}}', {}, key.apiKey, 'invalid_request'],
        [listing, '{"task":"x","parameters":{"csv":"a"}}', {}, key.apiKey, 'insufficient_balance'],
      ];
      for (const [id, body, headers, apiKey, code] of steps) {
        const { status, json } = await world.post(`/v1/agents/${id}/execute`, body, { key: apiKey, headers });
        expect(json.error.code).to.equal(code);
        expect(status).to.equal(ERRORS[code].status);
      }
      expect(world.state.executed).to.have.length(1);
    });

    it('rejects: unknown, delisted, malformed and undescribed agents', async () => {
      const delisted = await world.addListing({ status: 'delisted' });
      for (const id of [newAddress(), delisted, 'x', '%ZZ', "'--"]) {
        const { status, json } = await execute({ task: 'x' }, id);
        expect([status, json.error.code]).to.deep.equal([404, 'agent_not_found']);
      }
      const undescribed = await world.addListing({ metadata_hash: 'ef'.repeat(32) }, null);
      const { status, json } = await execute({ task: 'x' }, undescribed);
      expect([status, json.error.code]).to.deep.equal([503, 'metadata_missing']);
    });

    it('rejects: options in the query', async () => {
      const { status, json } = await world.post(
        `/v1/agents/${open}/execute?async=true`,
        { task: 'x' },
        { key: key.apiKey },
      );
      expect([status, json.error.code]).to.deep.equal([400, 'invalid_request']);
      expect(json.error.message).to.include('"async"');
      expect(world.state.executed).to.have.length(0);
    });

    const MEDIA_TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
    for (const type of [...MEDIA_TYPES, 'application/json; charset=latin1', 'application/jsonp', '']) {
      it(`rejects: media type ${JSON.stringify(type)}`, async () => {
        const { status, json } = await execute(Buffer.from('{"task":"x"}'), open, { 'content-type': type });
        expect([status, json.error.code]).to.deep.equal([415, 'unsupported_media_type']);
      });
    }

    it('rejects: a compressed body', async () => {
      const { status, json } = await execute('{"task":"x"}', open, { 'content-encoding': 'gzip' });
      expect([status, json.error.code]).to.deep.equal([415, 'unsupported_media_type']);
    });

    it('rejects: a body over 1 MiB without Content-Length', async () => {
      const chunk = Buffer.alloc(64 * 1024, 120);
      const stream = new ReadableStream({
        start(controller) {
          for (let n = 0; n < 17; n += 1) controller.enqueue(chunk);
          controller.close();
        },
      });
      const init = { method: 'POST', body: stream, duplex: 'half', headers: { 'content-type': 'application/json' } };
      const { status, json } = await world.call(`/v1/agents/${open}/execute`, {
        ...init,
        key: key.apiKey,
      } as RequestInit);
      expect([status, json.error.code]).to.deep.equal([413, 'payload_too_large']);
    });
  });
});
