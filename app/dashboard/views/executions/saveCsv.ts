/** Lists of calls as CSV files. Amounts are exact: their base units, written as decimals. */
import type { ReceivedCall } from '../../../sdk/wire/procedures.ts';
import { formatUsdc, parseUsdc } from '../../../sdk/wire/usdc.ts';
import type { ExecutionPage, ExecutionSummary } from '../../../sdk/wire/wire.ts';
import { formatCount, saveFile } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { outcomeOf, outcomeOfReceived, payerOf } from './outcome.ts';
import { type ExecutionsSearch, listCalls } from './search.ts';

/** Calls of a request, and of a file. */
const PAGE = 100;
const MOST_CALLS = 10_000;

const usdc = (amount: number | null): string => (amount === null ? '' : formatUsdc(parseUsdc(amount)));

/** The columns of a file, by name. */
type Columns<Row> = Record<string, (row: Row) => string | number | null>;

const COLUMNS: Columns<ExecutionSummary> = {
  execution_id: ({ execution_id }) => execution_id,
  agent_id: ({ agent_id }) => agent_id,
  agent: ({ agent_name }) => agent_name,
  task: ({ task }) => task,
  status: ({ status }) => status,
  outcome: (call) => outcomeOf(call).words,
  error_code: ({ error }) => error?.code ?? null,
  cost_usdc: ({ cost_usdc }) => usdc(cost_usdc),
  refunded_usdc: ({ refunded_usdc }) => usdc(refunded_usdc),
  returned_usdc: ({ returned_usdc }) => usdc(returned_usdc),
  execution_time_ms: ({ execution_time_ms }) => execution_time_ms,
  called_with: payerOf,
  key_id: ({ key_id }) => key_id,
  deposit: ({ deposit }) => deposit,
  initiated_at: ({ initiated_at }) => initiated_at,
  completed_at: ({ completed_at }) => completed_at,
};

const RECEIVED_COLUMNS: Columns<ReceivedCall & { agent: string }> = {
  execution_id: ({ execution_id }) => execution_id,
  agent_id: ({ agent_id }) => agent_id,
  agent: ({ agent }) => agent,
  task: ({ task }) => task,
  status: ({ status }) => status,
  outcome: (call) => outcomeOfReceived(call).words,
  error_code: ({ error }) => error?.code ?? null,
  error_message: ({ error }) => error?.message ?? null,
  price_usdc: ({ price_usdc }) => usdc(price_usdc),
  earned_usdc: ({ earned_usdc }) => usdc(earned_usdc),
  refunded_usdc: ({ refunded_usdc }) => usdc(refunded_usdc),
  duration_ms: ({ duration_ms }) => duration_ms,
  http_status: ({ http_status }) => http_status,
  received_at: ({ received_at }) => received_at,
};

const tooMany = () => new Error(`A file has at most ${formatCount(MOST_CALLS)} calls. Choose fewer.`);

async function save<Row>(name: string, columns: Columns<Row>, rows: readonly Row[]): Promise<void> {
  const { toCsv } = await import('../../parts/result/read.ts');
  const cells = rows.map((row) => Object.values(columns).map((value) => value(row)));
  saveFile(`${name}.csv`, toCsv({ columns: Object.keys(columns), rows: cells }), 'text/csv');
}

/** Saves all calls with these filters, newest first. Throws if there are more than MOST_CALLS. */
export async function saveCsv(search: ExecutionsSearch): Promise<void> {
  const { page: _page, ...filters } = search;
  const calls = new Map<string, ExecutionSummary>();
  for (let offset = 0, total = 1; offset < total; offset += PAGE) {
    const page: ExecutionPage = await listCalls(filters, { limit: PAGE, offset });
    total = page.total;
    if (total > MOST_CALLS) throw tooMany();
    // A new call moves the older ones to the next page, where they come again.
    for (const call of page.executions) calls.set(call.execution_id, call);
  }
  const { status, from, to } = filters;
  const name = ['calls', status, from && `from-${from}`, to && `to-${to}`].filter(Boolean).join('-');
  await save(name, COLUMNS, [...calls.values()]);
}

/** Saves the ended calls that agents received, newest first. Throws if there are more than MOST_CALLS. */
export async function saveReceivedCsv(
  filters: { agent_id?: string; failed: boolean },
  nameOf: (agentId: string) => string,
): Promise<void> {
  const all: ReceivedCall[] = [];
  for (let before: string | undefined; ; before = all.at(-1)?.execution_id) {
    const { calls, has_more } = await call('listings.calls', { ...filters, limit: PAGE, ...(before && { before }) });
    all.push(...calls);
    if (!has_more) break;
    if (all.length >= MOST_CALLS) throw tooMany();
  }
  const rows = all.map((one) => ({ ...one, agent: nameOf(one.agent_id) }));
  await save(filters.failed ? 'failed-received-calls' : 'received-calls', RECEIVED_COLUMNS, rows);
}
