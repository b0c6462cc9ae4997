/**
 * Tests the running relay against its own document. Schemathesis generates thousands of valid and invalid requests from
 * /openapi.json, and checks every answer: no internal errors, and no undocumented answers.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import pino from 'pino';
import { ApiError } from '../../app/relay/errors.ts';
import type { ExecuteOutcome, PaidCall } from '../../app/relay/execution/contract.ts';
import { ROUTE_IDS, routeOf } from '../../app/relay/http/routes/table.ts';
import { hashMetadata } from '../../app/sdk/receipt/metadataHash.ts';
import { hashResult } from '../../app/sdk/receipt/receipt.ts';
import { KEY_SCOPES } from '../../app/sdk/wire/keyScopes.ts';
import { encodeMetadata } from '../../app/sdk/wire/metadata.ts';
import { startWorld, type World } from '../harness/edge/api.ts';
import { pixelOf, urlOf } from '../harness/edge/pictures.ts';
import { metadataOf, newExecutionId } from '../harness/edge/rows.ts';
import { type Finished, installPython, requireTools, run } from '../harness/edge/tools.ts';
import { createX402 } from '../harness/edge/x402.ts';
import { useFolder } from '../harness/folder.ts';

const SEED = 20_261_121;
/** Random examples per route, besides those derived from the document. */
const EXAMPLES = 15;

/** Picks one of the possible outcomes of a call by a hash of its task. */
function outcomeOf({ task }: PaidCall): ExecuteOutcome {
  const executionId = newExecutionId();
  const short = { limit: 'period' as const, wallet: 'W', have_usdc: 0.1, need_usdc: 0.25 };
  const outcomes: (ExecuteOutcome | ApiError)[] = [
    { kind: 'pending', executionId },
    { kind: 'running', executionId },
    new ApiError('execution_failed', 'The agent failed. Escrow refunded', { executionId }),
    new ApiError('execution_timeout', 'The agent did not respond. Escrow refunded', { executionId }),
    new ApiError('insufficient_balance', 'Too little is left', { details: short }),
    new ApiError('price_changed', 'It costs more now', { details: { price_usdc: 0.3, max_cost_usdc: 0.25 } }),
    new ApiError('service_unavailable', 'The chain does not answer', { executionId, retryAfterSeconds: 5 }),
    {
      kind: 'completed',
      executionId,
      result: Buffer.from(task, 'utf8'),
      resultHash: hashResult(task),
      price: 250_000n,
      tokensUsed: task.length % 2 === 0 ? null : task.length,
      executionTimeMs: 12,
      settleSignature: '5igNature',
      resultToken: 'tok-en',
    },
  ];
  const [first = 0] = createHash('sha256')
    .update(task.isWellFormed() ? task : '?')
    .digest();
  const outcome = outcomes[first % outcomes.length]!;
  if (outcome instanceof ApiError) throw outcome;
  return outcome;
}

/** The fields of schemathesis's report that are used. */
interface Report {
  exit_code: number;
  operations: { selected: number; tested: number; errored: number };
  test_cases: { generated: number };
  failures: { title: string; operations: string[] }[];
  errors: unknown[];
  valid_rates: Record<string, Record<string, { accepted: number }>>;
}

describe('schemathesis', () => {
  let world: World;
  const folder = useFolder('contract');
  let config: string;
  /** The virtual environment of schemathesis (PyPI). */
  let installed: string;
  const faults: string[] = [];

  async function hold(): Promise<{ finished: Finished; report: Report }> {
    const path = join(folder, 'report.json');
    const reports = ['--report', 'json', '--report-json-path', path];
    // Read the document from a file: schemathesis does not test the address that it loads a document from.
    const words = ['--config-file', config, 'run', join(folder, 'openapi.json'), '--url', world.url, ...reports];
    // Compiled files stay out of the folder of checks.py.
    const paths = { PYTHONPYCACHEPREFIX: join(installed, 'compiled'), PYTHONPATH: import.meta.dirname };
    const options = { cwd: folder, env: { ...process.env, NO_COLOR: '1', ...paths } };
    const finished = await run(join(installed, 'bin', 'schemathesis'), words, options);
    return { finished, report: JSON.parse(readFileSync(path, 'utf8')) };
  }

  before(async function () {
    const tools = await installPython('schemathesis', join(import.meta.dirname, 'requirements.txt'));
    requireTools(this, tools);
    installed = tools.folder;
    const log = pino({ level: 'error' }, { write: (line: string) => void faults.push(line) });
    world = await startWorld({ log });
    // Schemathesis waits for the end of every stream.
    world.streamSettings.longestMs = 50;
    world.deps.x402 = createX402();
    config = join(folder, 'schemathesis.toml');
    writeFileSync(config, await writeConfig(world));
    const document = JSON.parse((await world.get('/openapi.json')).text);
    // The document names the media type of these streams in words only.
    for (const id of ['executeAgent', 'startExecution'] as const) {
      const { method, path } = routeOf(id);
      document.paths[path][method].responses[200].content['text/event-stream'] = {};
    }
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    const looked = { id: 1n, slot: 7n, checked_at: BigInt(world.state.nowMs) };
    await world.index.insertInto('progress').values(looked).execute();
  });
  after(() => world?.stop());

  describe('against the relay', () => {
    let report: Report;
    let finished: Finished;
    before(async () => {
      world.deps.engine.execute = async (_principal, _agent, input) => outcomeOf(input);
      ({ report, finished } = await hold());
    });

    it('reports no failure', () => {
      expect(finished.code, finished.output).to.equal(0);
      expect([report.failures, report.errors]).to.deep.equal([[], []]);
    });

    it('causes no internal error, in answers or in the log', () => {
      expect(faults).to.deep.equal([]);
    });

    it('calls every route with many requests', () => {
      // Three operations besides the table: config.get, config.changes, and the x402 route of the active agent.
      const operations = ROUTE_IDS.length + 3;
      expect(report.operations).to.include({ selected: operations, tested: operations, errored: 0 });
      expect(report.test_cases.generated).to.be.greaterThan(ROUTE_IDS.length * 40);
    });

    // Random requests cannot succeed here: a purchase needs a payment; a start needs a record opened for its exact
    // body; a receipt and a deletion need a settled one; proofs and leaves need an archive; no endpoint has a delivery.
    const unguessed = [
      'buyExecution',
      'startExecution',
      'getExecutionReceipt',
      'deleteExecutionContent',
      'getExecutionArchive',
      'getUnclaimed',
      'listLeaves',
      'deleteWebhook',
      'redeliverWebhook',
    ];
    for (const id of ROUTE_IDS.filter((name) => !unguessed.includes(name))) {
      it(`gets some requests accepted by ${id}`, () => {
        const { method, path } = routeOf(id);
        const phases = Object.values(report.valid_rates[`${method.toUpperCase()} ${path}`] ?? {});
        expect(
          phases.some(({ accepted }) => accepted > 0),
          JSON.stringify(phases),
        ).to.equal(true);
      });
    }
  });
});

async function writeConfig(world: World): Promise<string> {
  const key = await world.addKey({ scopes: KEY_SCOPES.join(' ') });
  const pictured = encodeMetadata(metadataOf({ picture: urlOf('image/png', pixelOf('image/png')) }));
  const metadata_hash = hashMetadata(pictured);
  await world.addDocument(pictured);
  const listing = await world.addListing({ metadata_hash }, null);
  const agents = [listing, await world.addListing({ status: 'paused' })];
  const executions = [
    await world.addRecord({ caller: key.wallet, listing }),
    await world.addRecord({ caller: key.wallet, listing, status: 'refunded', reason: 1n, result_hash: null }),
    await world.addJournal({ wallet: key.wallet, listing, state: 'dispatched' }),
  ];
  const executionId = newExecutionId();
  const settled = { execution_id: executionId, wallet: key.wallet, listing, state: 'settled' as const };
  executions.push(await world.addJournal(settled));
  const token = await world.addResult(executionId, 'a result');
  const endpoints: string[] = [];
  for (let count = 0; count < 2; count += 1) {
    const { json } = await world.post('/v1/webhooks', { url: 'https://example.com/hook' }, { key: key.apiKey });
    endpoints.push(json.endpoint.endpoint_id);
  }
  const list = (values: string[]) => JSON.stringify(values);
  return `
seed = ${SEED}
hooks = "checks"
continue-on-failure = true
warnings = false
headers = { Authorization = "Bearer ${key.apiKey}" }

[generation]
max-examples = ${EXAMPLES}
database = "none"

[phases.stateful]
enabled = false

[checks]
positive_data_acceptance.enabled = false
# 413: a text that is too long for its field can be too long for the whole body.
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "500", "503"]

[dictionaries]
agents = { values = ${list(agents)} }
executions = { values = ${list(executions)} }
tokens = { values = ${list([token])} }
documents = { values = ${list([metadata_hash])} }
endpoints = { values = ${list(endpoints)} }

[parameters]
"path.agent_id" = { dictionary = "agents", probability = 0.7 }
"path.execution_id" = { dictionary = "executions", probability = 0.7 }
"path.metadata_hash" = { dictionary = "documents", probability = 0.7 }
"path.token" = { dictionary = "tokens", probability = 0.7 }
"path.endpoint_id" = { dictionary = "endpoints", probability = 0.7 }

# What it deletes would be missing for the others.
[[operations]]
include-operation-id = "deleteWebhook"
parameters = { "path.endpoint_id" = { dictionary = "endpoints", probability = 0 } }
`;
}
