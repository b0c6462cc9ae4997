/** Checks the TypeScript client on a real marketplace against the tables of behaviours and purchases that all clients share. */
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Keypair } from '@solana/web3.js';
import {
  AgentMarketplace,
  type ExecutionEvent,
  MarketplaceError,
  type OnDelta,
  type Options,
  type Payment,
} from '../../app/sdk/client/caller.ts';
import { payWithX402, QuoteRefusedError } from '../../app/sdk/client/x402.ts';
import type { TestMarketplace } from '../harness/node/marketplace.ts';
import { behavesAsTheTableSays, type Entry, type Outcome, type Program, startScene } from './behaviours.ts';
import { takesOptions } from './options.ts';
import { paysFromAWallet } from './purchases.ts';

const run: Program = (entries) => Promise.all(entries.map(outcomeOf));

async function outcomeOf(entry: Entry): Promise<Outcome> {
  const start = performance.now();
  const deltas: string[] = [];
  const events: ExecutionEvent[] = [];
  const quotes: Record<string, unknown>[] = [];
  const payment = entry.wallet && (await paymentOf(entry.wallet, quotes));
  const outcome = await call(entry, (text) => void deltas.push(text), events, payment).catch(readError);
  return { ...outcome, deltas, events: events.map(({ type }) => type), quotes, ms: performance.now() - start };
}

async function paymentOf(
  { keypair, asset, rpc_url: rpcUrl }: NonNullable<Entry['wallet']>,
  quotes: Record<string, unknown>[],
): Promise<Payment> {
  const wallet = await createKeyPairSignerFromBytes(Uint8Array.from(JSON.parse(keypair)));
  return payWithX402({
    ...{ wallet, network: 'devnet', asset, rpcUrl },
    onQuote: ({ amount, price, serviceFee }) =>
      void quotes.push({ amount: Number(amount), price: Number(price), service_fee: Number(serviceFee) }),
  });
}

/** Makes a call of the table, which uses Python's names, and seconds. */
async function call(
  { base_url, api_key, client: options = {}, call }: Entry,
  onDelta: OnDelta,
  events: ExecutionEvent[],
  payment?: Payment,
): Promise<Omit<Outcome, 'ms'>> {
  const { timeout = 30, max_retries } = options as { timeout?: number; max_retries?: number };
  const own: Options = {
    baseUrl: base_url,
    apiKey: api_key,
    timeout: timeout * 1_000,
    maxRetries: max_retries,
    payment,
  };
  const { agents, executions } = new AgentMarketplace(own);
  const { agent, execution, task, parameters, method, limit, again_after, ...rest } = call as Record<string, string> & {
    parameters?: Record<string, unknown>;
    limit?: number;
    again_after?: number;
  };
  const { max_cost_usdc, timeout_seconds, timeout: wait, idempotency_key } = rest as Record<string, string | number>;
  const input = { task: task!, parameters };
  const paid = {
    maxCostUsdc: max_cost_usdc ?? undefined,
    timeoutSeconds: timeout_seconds === undefined ? undefined : Number(timeout_seconds),
    timeout: wait === undefined ? undefined : Number(wait) * 1_000,
    idempotencyKey: idempotency_key as string | undefined,
  };
  switch (method) {
    case 'agents.run':
      return { result: withTextAmounts(await agents.run(agent!, input, call.deltas ? { ...paid, onDelta } : paid)) };
    case 'executions.create':
      return { result: withTextAmounts(await executions.create(agent!, input, paid)) };
    case 'executions.wait': {
      const { execution_id } = await executions.create(agent!, input, paid);
      return { result: withTextAmounts(await executions.wait(execution_id)) };
    }
    case 'executions.retrieve':
      return { result: withTextAmounts(await executions.retrieve(execution!)) };
    case 'executions.events': {
      const id = execution ?? (await executions.create(agent!, input, paid)).execution_id;
      for await (const event of executions.events(id)) events.push(event);
      if (again_after !== undefined) {
        for await (const event of executions.events(id, { after: events[again_after]!.id })) events.push(event);
      }
      return { result: withTextAmounts(events.at(-1)!.data) };
    }
    case 'agents.retrieve':
      return { result: withTextAmounts(await agents.retrieve(agent!)) };
    case 'agents.list': {
      let count = 0;
      for await (const _ of agents.list({ limit })) count += 1;
      return { count };
    }
    default:
      throw new Error(`the table has a method without a call here: ${method}`);
  }
}

/** Converts amounts to text, as in the table: Python has exact decimals. */
function withTextAmounts(value: object): Record<string, unknown> {
  const entries = Object.entries(value).map(([name, field]) => [
    name,
    /_usdc$/.test(name) && field !== null ? `${field}` : field,
  ]);
  return Object.fromEntries(entries);
}

function readError(error: unknown): Omit<Outcome, 'ms'> {
  if (error instanceof QuoteRefusedError) return { error: { class: error.name, field: error.field } };
  // A wrong argument, by Python's name.
  if (error instanceof TypeError) return { error: { class: 'ValueError', message: error.message } };
  if (!(error instanceof MarketplaceError)) throw error;
  const { name, code, message, status, details, executionId, idempotencyKey, retryAfterSeconds } = error;
  return {
    error: {
      class: name,
      code,
      message,
      status,
      details: details && withTextAmounts(details),
      execution_id: executionId,
      idempotency_key: idempotencyKey,
      cause: error.cause instanceof Error ? error.cause.name : null,
      retry_after_seconds: retryAfterSeconds,
    },
  };
}

describe('clients/typescript', () => {
  let market: TestMarketplace;
  before(async () => {
    market = await startScene({}, Keypair.generate());
  });
  after(() => market?.stop());

  behavesAsTheTableSays('typescript', () => market, run);
  paysFromAWallet('typescript', () => market, run);
  takesOptions(() => market);
});
