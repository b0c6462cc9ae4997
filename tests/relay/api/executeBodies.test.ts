/** POST /v1/agents/{agent_id}/execute: every invalid body, and its error message. */
import { expect } from 'chai';
import type { World } from '../../harness/edge/api.ts';
import { newExecutionId } from '../../harness/edge/rows.ts';
import { type Executing, startExecuting } from './executing.ts';

describe('bodies of POST /v1/agents/{agent_id}/execute', () => {
  let world: World;
  let listing: string;
  let open: string;
  let execute: Executing['execute'];
  before(async () => {
    ({ world, listing, open, execute } = await startExecuting());
  });
  beforeEach(() => {
    world.state.executed.length = 0;
    world.state.execute = async () => ({ kind: 'pending', executionId: newExecutionId() });
  });
  after(() => world.stop());

  describe('rejects: bodies with 400 invalid_request, and executes nothing', () => {
    const BODIES: [name: string, body: string | Uint8Array, says: string][] = [
      ['empty', '', 'it is empty'],
      ['not JSON', 'task=x', 'not valid JSON'],
      ['cut off', '{"task":"x"', 'not valid JSON'],
      ['an array', '[{"task":"x"}]', 'must be an object'],
      ['a byte order mark', '\ufeff{"task":"x"}', 'not valid JSON'],
      ['Latin-1', Buffer.from('{"task":"\xfcber"}', 'latin1'), 'UTF-8'],
      ['half of a surrogate pair', '{"task":"\\ud83d"}', 'surrogate'],
      ['a repeated name', '{"task":"a","task":"b"}', '"task" twice'],
      ['a repeated name in disguise', '{"task":"a","t\\u0061sk":"b"}', '"task" twice'],
      ['a repeated parameter', '{"task":"x","parameters":{"a":{"b":1,"b":2}}}', '"b" twice'],
      ['__proto__', '{"task":"x","__proto__":{"async":true}}', '__proto__'],
      ['__proto__ in disguise', '{"task":"x","parameters":{"__pro\\u0074o__":1}}', '__proto__'],
      ['65 levels of objects', `{"task":"x","parameters":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`, 'deeper than 64'],
      ['half a million open brackets', `{"task":${'['.repeat(500_000)}`, 'deeper than 64'],
      [
        'a number beyond a double',
        '{"task":"x","parameters":{"a":1e400}}',
        'must be a number within the range of a double',
      ],
      ['no task', '{}', '"task" is missing'],
      ['task empty', '{"task":""}', '"task" must have at least one character'],
      ['task a number', '{"task":1}', '"task" must be a string'],
      ['parameters an array', '{"task":"x","parameters":[]}', '"parameters" must be an object'],
      ['async text', '{"task":"x","async":"true"}', '"async" must be true or false'],
      ['timeout a fraction', '{"task":"x","timeout_seconds":1.5}', '"timeout_seconds" must be a whole number'],
      ['timeout too short', '{"task":"x","timeout_seconds":0}', '"timeout_seconds" must be from 1 to 60'],
      ['timeout too long', '{"task":"x","timeout_seconds":61}', '"timeout_seconds" must be from 1 to 60'],
      ['cost negative', '{"task":"x","max_cost_usdc":-1}', '"max_cost_usdc" must be an amount'],
      ['cost too fine', '{"task":"x","max_cost_usdc":0.1234567}', '"max_cost_usdc" must be an amount'],
      ['cost immense', '{"task":"x","max_cost_usdc":1e30}', '"max_cost_usdc" must be an amount'],
      ['an unknown field', '{"task":"x","max_cost":1}', '"max_cost". Allowed: task, parameters'],
    ];
    for (const [name, body, says] of BODIES) {
      it(name, async () => {
        const { status, json } = await execute(body);
        expect(status, JSON.stringify(json)).to.equal(400);
        expect(json.error).to.have.all.keys('code', 'message', 'execution_id', 'details');
        expect(json.error.details.issues[0]).to.include({ in: 'body' });
        expect(json.error).to.include({ code: 'invalid_request', execution_id: null });
        expect(json.error.message).to.include(says);
        expect(world.state.executed).to.have.length(0);
      });
    }
  });

  describe('the list of faults for programs', () => {
    const ISSUES: [name: string, body: unknown, issues: [path: string, expected: string, got: string][]][] = [
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
        { task: 'x', parameters: { csv: 'a' }, timeout_seconds: 61 },
        [['timeout_seconds', 'must be from 2 to 60 for this agent', '61']],
      ],
      ['a missing parameter', { task: 'x' }, [['parameters.csv', 'is required', 'nothing']]],
      [
        'a parameter',
        { task: 'x', parameters: { csv: 'a', names: ['b', 7] } },
        [['parameters.names.1', 'must be string', '7']],
      ],
      [
        'an unknown parameter',
        { task: 'x', parameters: { csv: 'a', x: 'y'.repeat(99) } },
        [['parameters.x', 'no parameter with this name', 'a string of 99 characters']],
      ],
    ];
    for (const [name, body, issues] of ISSUES) {
      it(name, async () => {
        const { json } = await execute(body, listing);
        const expected = issues.map(([path, rule, got]) => ({ in: 'body', path, expected: rule, got }));
        expect(json.error.details).to.deep.equal({ issues: expected });
      });
    }

    it('has at most 20 entries', async () => {
      const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x${i}`, i]));
      expect((await execute({ task: 'x', ...unknown })).json.error.details.issues).to.have.length(20);
    });

    it('describes a body that is not JSON', async () => {
      const { json } = await execute('{"task":');
      const [issue] = json.error.details.issues;
      expect(issue).to.include({ in: 'body', path: '' });
      expect(issue.got).to.match(/^it is not valid JSON/);
    });

    it('describes faults of a query, a size and a media type', async () => {
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
      const large = await execute('x'.repeat(1024 * 1024 + 1));
      expect(large.json.error.details).to.deep.equal({ max_bytes: 1024 * 1024 });
      const text = await execute('x', open, { 'content-type': 'text/plain' });
      const right = { content_type: 'application/json', content_encoding: 'identity' };
      expect(text.json.error.details).to.deep.equal(right);
    });
  });

  describe("rejects: parameters that do not fit the agent's input schema", () => {
    const PARAMETERS: [parameters: unknown, says: string][] = [
      [undefined, 'parameters.csv is missing'],
      [{ csv: 5 }, 'parameters.csv must be string'],
      [{ csv: 'a', mode: 'medium' }, 'parameters.mode must be one of ["fast","slow",3]'],
      [{ csv: 'a', when: '2026-02-30' }, 'parameters.when must match format "date"'],
      [{ csv: 'a', limits: { rows: 0 } }, 'parameters.limits.rows must be >= 1'],
      [{ csv: 'a', names: ['a', 1] }, 'parameters.names.1 must be string'],
      [{ csv: 'a', cvs: 'a' }, 'parameters.cvs is not a parameter of this agent'],
      [{ csv: 'a', toString: 1 }, 'parameters.toString is not a parameter of this agent'],
    ];
    for (const [parameters, says] of PARAMETERS) {
      it(says, async () => {
        const { status, json } = await execute({ task: 'x', parameters }, listing);
        expect(status).to.equal(400);
        expect(json.error).to.include({ code: 'invalid_request', execution_id: null });
        expect(json.error.message).to.include(says);
        expect(world.state.executed).to.have.length(0);
      });
    }
  });
});
