/** POST /v1/agents/{agent_id}/execute at the API: the order of checks, every outcome and error. */
import canonicalize from 'canonicalize';
import { expect } from 'chai';
import { ApiError } from '../../../app/relay/errors.ts';
import type { ExecuteOutcome } from '../../../app/relay/execution/contract.ts';
import { requestHash } from '../../../app/sdk/receipt/receipt.ts';
import { ERRORS, type ErrorCode } from '../../../app/sdk/wire/wire.ts';
import { EXPLORER_QUERY, useWorld } from '../../harness/edge/api.ts';
import { newAddress, newExecutionId, type TestKey } from '../../harness/edge/rows.ts';

const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    csv: { type: 'string', minLength: 1, maxLength: 1000 },
    mode: { enum: ['fast', 'slow', 3] },
    when: { type: 'string', format: 'date' },
    limits: { type: 'object', properties: { rows: { type: 'integer', minimum: 1 } }, required: ['rows'] },
    names: { type: 'array', items: { type: 'string' }, maxItems: 2 },
  },
  required: ['csv'],
  additionalProperties: false,
};

type Issue = [path: string, expected: string, got: string];
const issueOf = ([path, expected, got]: Issue) => ({ in: 'body', path, expected, got });

describe('POST /v1/agents/{agent_id}/execute', () => {
  const world = useWorld();
  let key: TestKey;
  /** Two agents: the parameters of one must fit INPUT_SCHEMA, the other accepts any. */
  let [listing, open] = ['', ''];
  before(async () => {
    key = await world.addKey();
    listing = await world.addListing({ min_timeout_seconds: 2n }, { input_schema: INPUT_SCHEMA });
    open = await world.addListing();
  });
  const execute = (body: unknown, id = open, headers = {}) =>
    world.post(`/v1/agents/${id}/execute`, body, { key: key.apiKey, headers });
  beforeEach(() => {
    world.state.executed.length = 0;
    world.state.execute = async () => ({ kind: 'pending', executionId: newExecutionId() });
  });

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

    it('returns 200 pending once the escrow of an asynchronous call is confirmed, and 202 while the outcome is unknown', async () => {
      const executionId = newExecutionId();
      for (const [kind, status] of [
        ['pending', 200],
        ['running', 202],
      ] as const) {
        world.state.execute = async () => ({ kind, executionId });
        const answer = await execute({ task: 'x', async: kind === 'pending' });
        expect([answer.status, answer.json]).to.deep.equal([status, { execution_id: executionId, status: kind }]);
      }
    });

    const shortage = { limit: 'balance' as const, wallet: 'W', have_usdc: 0.1, need_usdc: 0.25 };
    const options = { executionId: newExecutionId(), retryAfterSeconds: 5 };
    it('returns a refusal with the status of its code, its execution_id and its details', async () => {
      for (const refusal of [
        new ApiError('insufficient_balance', 'a reason', { ...options, details: shortage }),
        new ApiError('execution_timeout', 'a reason', options),
      ]) {
        const { code, details } = refusal;
        world.state.execute = async () => {
          throw refusal;
        };
        const { status, json, headers } = await execute({ task: 'x' });
        const error = { code, message: 'a reason', execution_id: options.executionId, details };
        expect([status, json]).to.deep.equal([ERRORS[code].status, { error }]);
        expect(headers.get('retry-after')).to.equal('5');
      }
    });

    it('returns 500 internal_error without any detail of a fault, also for an answer that does not fit its schema', async () => {
      world.state.execute = async () => ({ kind: 'pending', executionId: 7 as unknown as string });
      expect((await execute({ task: 'x' })).outcome).to.equal('500 internal_error');
      world.state.execute = async () => {
        throw new TypeError('a secret');
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
      for (const id of [newAddress(), delisted, '%ZZ'])
        expect((await execute({ task: 'x' }, id)).outcome).to.equal('404 agent_not_found');
      const undescribed = await world.addListing({ metadata_hash: 'ef'.repeat(32) }, null);
      expect((await execute({ task: 'x' }, undescribed)).outcome).to.equal('503 metadata_missing');
    });

    it('rejects: other media types, and a compressed body', async () => {
      const forms = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
      const types = [...forms, 'application/json; charset=latin1', 'application/jsonp', ''];
      for (const headers of [...types.map((type) => ({ 'content-type': type })), { 'content-encoding': 'gzip' }]) {
        const { outcome, json } = await execute(Buffer.from('{"task":"x"}'), open, headers);
        expect(outcome, JSON.stringify(headers)).to.equal('415 unsupported_media_type');
        const right = { content_type: 'application/json', content_encoding: 'identity' };
        expect(json.error.details).to.deep.equal(right);
      }
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
      const answer = await world.call(`/v1/agents/${open}/execute`, { ...init, key: key.apiKey } as RequestInit);
      expect(answer.outcome).to.equal('413 payload_too_large');
      expect(answer.json.error.details).to.deep.equal({ max_bytes: 1024 * 1024 });
    });
  });

  describe('rejects: bodies with 400 invalid_request, and executes nothing', () => {
    const BODIES: [name: string, body: string | Uint8Array, says: string][] = [
      ['empty', '', 'it is empty'],
      ['cut off', '{"task":"x"', 'not valid JSON'],
      ['an array', '[{"task":"x"}]', 'must be an object'],
      ['a byte order mark', '\ufeff{"task":"x"}', 'byte order mark: use UTF-8 without one'],
      ['Latin-1', Buffer.from('{"task":"\xfcber"}', 'latin1'), 'UTF-8'],
      ['half of a surrogate pair', '{"task":"\\ud83d"}', 'surrogate'],
      ['a repeated name in disguise', '{"task":"a","t\\u0061sk":"b"}', '"task" twice'],
      ['a repeated parameter', '{"task":"x","parameters":{"a":{"b":1,"b":2}}}', '"b" twice'],
      ['__proto__ in disguise', '{"task":"x","parameters":{"__pro\\u0074o__":1}}', '__proto__'],
      ['65 levels of objects', `{"task":"x","parameters":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`, 'deeper than 64'],
      ['half a million open brackets', `{"task":${'['.repeat(500_000)}`, 'deeper than 64'],
      ['task empty', '{"task":""}', '"task" must have at least one character'],
      ['timeout a fraction', '{"task":"x","timeout_seconds":1.5}', '"timeout_seconds" must be a whole number'],
      ['timeout too long', '{"task":"x","timeout_seconds":61}', '"timeout_seconds" must be from 1 to 60'],
      ['cost negative', '{"task":"x","max_cost_usdc":-1}', '"max_cost_usdc" must be an amount'],
      ['cost too fine', '{"task":"x","max_cost_usdc":0.1234567}', '"max_cost_usdc" must be an amount'],
      ['cost immense', '{"task":"x","max_cost_usdc":1e30}', '"max_cost_usdc" must be an amount'],
    ];
    /** Of an agent with an input schema. */
    const PARAMETERS: [parameters: unknown, says: string, issue?: Issue][] = [
      [undefined, 'parameters.csv is missing', ['parameters.csv', 'is required', 'nothing']],
      [{ csv: 'a', mode: 'medium' }, 'parameters.mode must be one of ["fast","slow",3]'],
      [{ csv: 'a', limits: { rows: 0 } }, 'parameters.limits.rows must be >= 1'],
      [{ csv: 'a', names: ['a', 7] }, 'names.1 must be string', ['parameters.names.1', 'must be string', '7']],
      [{ csv: 'a', toString: 1 }, 'parameters.toString is not a parameter of this agent'],
      [
        { csv: 'a', x: 'y'.repeat(99) },
        'parameters.x is not a parameter of this agent',
        ['parameters.x', 'no parameter with this name', 'a string of 99 characters'],
      ],
    ];
    async function refuses(name: string, body: unknown, says: string, agent = open, issue?: Issue): Promise<void> {
      const { status, json } = await execute(body, agent);
      expect(status, `${name}: ${JSON.stringify(json)}`).to.equal(400);
      expect(json.error).to.have.all.keys('code', 'message', 'execution_id', 'details');
      expect(json.error.details.issues[0]).to.include({ in: 'body' });
      expect(json.error, name).to.include({ code: 'invalid_request', execution_id: null });
      expect(json.error.message, name).to.include(says);
      if (issue) expect(json.error.details.issues).to.deep.equal([issueOf(issue)]);
      expect(world.state.executed).to.have.length(0);
    }
    it('that are no valid JSON object, or have a field that does not fit', async () => {
      for (const body of BODIES) await refuses(...body);
    });
    it('whose parameters do not fit the input schema', async () => {
      for (const [parameters, says, issue] of PARAMETERS)
        await refuses(says, { task: 'x', parameters }, says, listing, issue);
    });
  });

  describe('the list of faults for programs', () => {
    const ISSUES: [name: string, body: unknown, issues: Issue[]][] = [
      ['what is missing', {}, [['task', 'must be a string', 'nothing']]],
      [
        'everything that is wrong',
        { task: 7, parameters: [], async: 'yes', max_cost: 1 },
        [
          ['task', 'must be a string of at least one character', '7'],
          ['parameters', 'must be an object', 'an array of 0'],
          ['async', 'must be true or false', '"yes"'],
          ['max_cost', 'no field with this name', '1'],
        ],
      ],
      [
        'long values by their kind',
        { task: { a: 'x' } },
        [['task', 'must be a string of at least one character', 'an object']],
      ],
      [
        'an agent’s own limits',
        { task: 'x', parameters: { csv: 'a' }, timeout_seconds: 1 },
        [['timeout_seconds', 'must be from 2 to 60 for this agent', '1']],
      ],
    ];
    it('names place, rule and value of each', async () => {
      for (const [name, body, issues] of ISSUES) {
        const { json } = await execute(body, listing);
        expect(json.error.details, name).to.deep.equal({ issues: issues.map(issueOf) });
      }
    });

    it('has at most 20 entries, and describes a body that is not JSON', async () => {
      const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x${i}`, i]));
      expect((await execute({ task: 'x', ...unknown })).json.error.details.issues).to.have.length(20);
      const [issue] = (await execute('{"task":')).json.error.details.issues;
      expect(issue).to.include({ in: 'body', path: '' });
      expect(issue.got).to.match(/^it is not valid JSON/);
    });

    it('describes faults of a query', async () => {
      const repeated = await world.get('/v1/agents?limit=1&limit=2');
      const twice = { in: 'query', path: 'limit', expected: 'must be given once', got: 'an array of 2' };
      expect(repeated.json.error.details).to.deep.equal({ issues: [twice] });
      const range = await world.get('/v1/agents?limit=101&sort=loudest');
      expect(range.json.error.details.issues).to.deep.equal([
        { in: 'query', path: 'limit', expected: 'must be an integer from 1 to 100', got: '"101"' },
        {
          in: 'query',
          path: 'sort',
          expected: 'must be one of total_executions, success_rate, price_asc, price_desc, created_at, best',
          got: '"loudest"',
        },
      ]);
    });
  });
});
