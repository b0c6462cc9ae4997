/**
 * Payments of a client from wallets, through the x402 endpoint of a real marketplace. A program in the client's language
 * makes the calls. A proxy drops answers and falsifies quotes. Each call has its own wallet.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { findTokenAccount } from '../../app/sdk/program/program.ts';
import { serve } from '../harness/edge/listen.ts';
import { FEE, PRICE, type TestMarketplace } from '../harness/node/marketplace.ts';
import { type Accepted, decodeHeader } from '../harness/node/x402.ts';
import { allEnded, type Outcome, type Program } from './behaviours.ts';

export const SERVICE_FEE = 5_000n;
const TOTAL = PRICE + SERVICE_FEE;
const FUNDS = 1_000_000n;

interface Purchase {
  name: string;
  client?: Record<string, unknown>;
  call?: Record<string, unknown>;
  /** Changes the request for a quote. */
  ask?: (body: Record<string, unknown>) => void;
  /** Falsifies the quote. */
  lie?: (accepted: Accepted) => void;
  /** Replaces the answers to the first payments. Later payments get the relay's answer. */
  answers?: ('lost' | 'running' | 'running long' | 'refused')[];
  /** Expected fields of the error. Without it, the call is expected to succeed. */
  error?: Record<string, unknown>;
  spent: bigint;
  /** Expected number of payments sent. */
  payments: number;
}

/** The execution's id in an answer 202. */
const RUNNING_ID = '511e23f8-8651-858f-b821-1091b7eebbd9';

const UNPAID = { spent: 0n, payments: 0 };
const refused = (field: string) => ({ ...UNPAID, error: { class: 'QuoteRefusedError', field } });
const stranger = () => Keypair.generate().publicKey.toBase58();

const PURCHASES: Purchase[] = [
  { name: 'buys a call', spent: TOTAL, payments: 1 },
  {
    name: 'gets the price back if the agent fails',
    call: { parameters: { creator: 'fails' } },
    error: { class: 'ExecutionFailedError', code: 'execution_failed' },
    spent: SERVICE_FEE,
    payments: 1,
  },
  { name: 'pays once if the answer to its payment is lost', answers: ['lost'], spent: TOTAL, payments: 2 },
  { name: 'asks again with its payment after 202', answers: ['running'], spent: TOTAL, payments: 2 },
  {
    name: 'says that the call runs, not that it was refused, if asking again is refused',
    answers: ['running', 'refused'],
    error: { class: 'ConflictError', code: 'request_in_progress', execution_id: RUNNING_ID },
    spent: TOTAL,
    payments: 2,
  },
  {
    name: 'names the execution if the connection breaks after 202',
    client: { max_retries: 0 },
    answers: ['running', 'lost'],
    error: { class: 'APIConnectionError', execution_id: RUNNING_ID },
    spent: TOTAL,
    payments: 2,
  },
  {
    name: 'gives up at its timeout, and says that the outcome is not known',
    call: { timeout: 30 },
    answers: ['running long'],
    error: { class: 'WaitTimeoutError', code: 'wait_timeout' },
    spent: TOTAL,
    payments: 1,
  },
  {
    name: 'is refused by the marketplace above its limit',
    call: { max_cost_usdc: '0.254999' },
    ...UNPAID,
    error: { class: 'PriceChangedError', code: 'price_changed' },
  },
  {
    name: 'refuses a quote above its limit, which includes the service fee',
    call: { max_cost_usdc: '0.254999' },
    ask: (body) => delete body.max_cost_usdc,
    ...refused('amount'),
  },
  { name: 'pays nothing without a limit', call: { max_cost_usdc: null }, ...UNPAID, error: { class: 'ValueError' } },
  {
    name: 'refuses a quote for another request',
    ask: (body) => Object.assign(body, { task: 'another' }),
    ...refused('extra.request_hash'),
  },
  { name: 'refuses another address', lie: (accepted) => (accepted.payTo = stranger()), ...refused('payTo') },
  {
    name: 'refuses another amount',
    lie: (accepted) => (accepted.amount = String(PRICE)),
    ...refused('amount'),
  },
  {
    name: 'refuses a quote for another wallet',
    lie: (accepted) => (accepted.extra.payer = stranger()),
    ...refused('extra.payer'),
  },
  {
    name: 'refuses a quote without an address',
    lie: (accepted) => (accepted.payTo = undefined),
    ...UNPAID,
    error: { class: 'QuoteRefusedError' },
  },
];

/** A proxy in front of the relay that treats requests to `/N/...` as the Nth purchase says. */
async function startBetween(relayUrl: string) {
  const paid: string[][] = PURCHASES.map(() => []);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, index = '', path = ''] = /^\/(\d+)(.*)$/.exec(request.url ?? '') ?? [];
    const { ask, lie, answers = [] } = PURCHASES[Number(index)]!;
    const payments = paid[Number(index)]!;
    const header = request.headers['payment-signature'] as string | undefined;
    const body = (await json(request)) as Record<string, unknown>;
    if (header === undefined) ask?.(body);
    else payments.push(header);
    const key = request.headers['idempotency-key'] as string;
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    const answered = await fetch(relayUrl + path, {
      method: 'POST',
      headers: { ...headers, ...(header && { 'payment-signature': header }) },
      body: JSON.stringify(body),
    });
    const text = await answered.text();
    const instead = header === undefined ? undefined : answers[payments.length - 1];
    if (instead === 'lost') return void response.destroy();
    if (instead === 'refused') {
      response.writeHead(403, { 'content-type': 'application/json' });
      return void response.end('{"error": {"code": "address_not_allowed", "message": "scripted"}}');
    }
    if (instead !== undefined) {
      response.writeHead(202, { 'retry-after': instead === 'running' ? '1' : '60' });
      return void response.end(JSON.stringify({ execution_id: RUNNING_ID, status: 'running' }));
    }
    const required = decodeHeader(answered, 'payment-required');
    if (required && lie) lie(required.accepts[0]);
    const quoted = required && Buffer.from(JSON.stringify(required)).toString('base64');
    response.writeHead(answered.status, {
      'content-type': answered.headers.get('content-type')!,
      ...(quoted && { 'payment-required': quoted }),
    });
    response.end(text);
  }

  return { ...(await serve((request, response) => void answer(request, response))), paid };
}

/** Declares a test for each purchase. `market` accepts x402 payments; `program` makes all calls in parallel. */
export function paysFromAWallet(kind: string, market: () => TestMarketplace, program: Program): void {
  describe(`payments from a wallet, ${kind}`, () => {
    const wallets = PURCHASES.map(() => Keypair.generate());
    const taskOf = (index: number) => `${PURCHASES[index]!.name} (${kind})`;
    const usdcOf = (wallet: Keypair) => market().amountOf(findTokenAccount(wallet.publicKey, market().usdcMint));
    let between: Awaited<ReturnType<typeof startBetween>>;
    let outcomes: Outcome[];
    let earned: bigint;

    const entryOf = (index: number, base_url: string) => ({
      base_url,
      api_key: '',
      client: PURCHASES[index]!.client ?? {},
      wallet: {
        keypair: JSON.stringify([...wallets[index]!.secretKey]),
        asset: market().usdcMint.toBase58(),
        rpc_url: market().node.rpcUrl,
      },
      call: {
        ...{ method: 'agents.run', agent: market().agentId, task: taskOf(index), max_cost_usdc: '0.255' },
        ...PURCHASES[index]!.call,
      },
    });

    before(async () => {
      const { creator } = await market().balances();
      for (const { publicKey } of wallets) await market().mintTo(publicKey, FUNDS);
      between = await startBetween(market().relay.url);
      outcomes = await program(PURCHASES.map((_, index) => entryOf(index, `${between.url}/${index}`)));
      // A call whose client has ended may still be settled.
      await allEnded(market());
      earned = (await market().balances()).creator - creator;
    });
    after(() => between?.close());

    PURCHASES.forEach(({ name, error, spent, payments }, index) => {
      it(name, async () => {
        const { quotes, ...outcome } = outcomes[index]!;
        const said = JSON.stringify(outcome);
        if (error) expect(outcome.error, said).to.include(error);
        else expect(outcome.result, said).to.include({ status: 'completed', result: `done: ${taskOf(index)}` });
        const checked = { amount: Number(TOTAL), price: Number(PRICE), service_fee: Number(SERVICE_FEE) };
        expect(quotes).to.have.length(payments === 0 ? 0 : 1);
        if (payments > 0) expect(quotes![0]).to.include(checked);
        expect(between.paid[index]).to.have.length(payments);
        expect(new Set(between.paid[index]).size, 'different payments').to.be.at.most(1);
        expect(FUNDS - (await usdcOf(wallets[index]!))).to.equal(spent);
      });
    });

    it('finds each call that was paid and not answered by its key, and pays nothing more', async () => {
      const unanswered = PURCHASES.flatMap(({ error, spent }, index) => (error && spent === TOTAL ? [index] : []));
      const entries = unanswered.map((index) => {
        const { call, client: _, ...entry } = entryOf(index, market().relay.url);
        const { idempotency_key } = outcomes[index]!.error!;
        return { ...entry, call: { ...call, timeout: 120, idempotency_key } };
      });
      const found = await program(entries);
      for (const [at, index] of unanswered.entries()) {
        expect(found[at]!.result, JSON.stringify(found[at])).to.include({ result: `done: ${taskOf(index)}` });
        expect(FUNDS - (await usdcOf(wallets[index]!))).to.equal(TOTAL);
      }
    });

    it('pays the creator for each result, and nothing else', () => {
      const settled = PURCHASES.filter(({ spent }) => spent === TOTAL);
      expect(earned).to.equal(BigInt(settled.length) * (PRICE - FEE));
    });
  });
}
