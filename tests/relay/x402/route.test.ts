/** Unmodified x402 clients buy calls: their answers, and where each amount goes. */
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { constants, findSpender, findTreasury } from '../../../app/sdk/program/program.ts';
import { openSession } from '../../../app/sdk/wallet/service.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import { createBuyers, PAYMENT_LAMPORTS, SERVICE_FEE, TOTAL } from '../../harness/node/buyers.ts';
import { readRents } from '../../harness/node/funds.ts';
import {
  type Answer,
  FEE,
  failedAnswer,
  figuresOf,
  goodAnswer,
  PRICE,
  request,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { travelNearTurn } from '../../harness/node/node.ts';
import { useRelaysHere } from '../../harness/node/relayHere.ts';
import { useRpcProxy } from '../../harness/node/rpcProxy.ts';
import { type Accepted, createX402Fetch, decodeHeader } from '../../harness/node/x402.ts';

/** Bytes of one header that Node's `fetch` accepts; a quote must stay far below. */
const MAX_QUOTE_BYTES = 4_096;
/** Far more than the relay's other calls to the node in the meantime. */
const QUOTES = 100;

describe('the x402 API', () => {
  const feePayer = Keypair.generate();
  const wallet = Keypair.generate();
  let pay: typeof fetch;

  const market = useMarketplace({ feePayer, slotTimeMs: 200, environment: { POLL_SECONDS: '1' } });
  const proxy = useRpcProxy(market);
  const start = useRelaysHere(market);
  before(async () => {
    await market.mintTo(wallet.publicKey, 100_000_000n);
    pay = await createX402Fetch(wallet, market.node.rpcUrl);
  });
  afterEach(async () => {
    market.setBehaviour(null);
    proxy.onCall(null);
  });

  const x402Key = (file = 'x402-fee-payer.json') => ({ X402_FEE_PAYER_KEYPAIR: join(market.dataDir, file) });
  const { path, ask, quote, sign, buy, rich, usdcOf, lamports, isGone } = createBuyers(market, wallet);
  const stock = (body: object, headers: Record<string, string> = {}) =>
    pay(market.relay.url + path(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const balances = async () => ({
    wallet: await usdcOf(wallet),
    creator: await market.amountOf(market.creatorUsdc),
    treasury: await market.amountOf(findTreasury()),
    feePayer: await lamports(feePayer),
    relay: await lamports(market.authority),
  });
  const moved = (before: Awaited<ReturnType<typeof balances>>, after: typeof before) => ({
    wallet: after.wallet - before.wallet,
    creator: after.creator - before.creator,
    treasury: after.treasury - before.treasury,
    feePayer: after.feePayer - before.feePayer,
  });
  const SOLD = { wallet: -TOTAL, creator: PRICE - FEE, treasury: FEE + SERVICE_FEE, feePayer: -PAYMENT_LAMPORTS };
  const refused = (answer: Answer) => [answer.status, answer.body.error.code, answer.body.error.details?.reason];

  it('sells a call to an unchanged client without a key, an account or SOL', async () => {
    const before = await balances();
    const response = await stock({ task: 'buy me' });
    // biome-ignore lint/suspicious/noExplicitAny: asserted field by field
    const body = (await response.json()) as any;
    expect(response.status, JSON.stringify(body)).to.equal(200);
    expect(body).to.include({ status: 'completed', result: 'done: buy me', cost_usdc: 0.25 });
    expect(moved(before, await balances())).to.deep.equal(SOLD);
    const receipt = decodeHeader(response, 'payment-response');
    expect(receipt).to.include({ success: true, payer: wallet.publicKey.toBase58(), amount: String(TOTAL) });
    expect(receipt.extensions.execution.execution_id).to.equal(body.execution_id);
    const landed = await market.node.connection.getSignatureStatus(receipt.transaction, {
      searchTransactionHistory: true,
    });
    expect(landed.value?.err).to.equal(null);
    expect((await market.record(body.execution_id))?.caller.toBase58()).to.equal(wallet.publicKey.toBase58());
    expect(await market.node.connection.getBalance(wallet.publicKey)).to.equal(0);
  });

  it('sells nothing beyond three quarters of what may be lent, before anything is signed, and calls with keys go on', async () => {
    const rents = await readRents(market);
    const needed = rents.record + rents.escrow;
    // PostgreSQL keeps each sum in several rows.
    const sum = "SELECT CAST(coalesce(sum(lamports), 0) AS BIGINT) AS lamports FROM lent_sums WHERE kind = 'x402'";
    const lent = async (): Promise<bigint> => (await market.query('ledger', sum))[0].lamports;
    const countRows = async () => (await market.query('ledger', 'SELECT count(*) AS rows FROM executions'))[0].rows;
    // One call fits; the second one would be one lamport too much.
    const share = (await lent()) + rents.record + needed - 1n;
    const LENT_LAMPORTS = String((share * 4n + 2n) / 3n);
    const relay = await start({ ...x402Key(), LENT_LAMPORTS });
    const send = () => buy({ task: 'lend me' }, { url: relay.url });
    expect((await send()).status).to.equal(200);
    const [before, rows, has] = [await balances(), await countRows(), await lent()];
    expect(has).to.equal(share - needed + 1n);
    const answer = await send();
    expect([answer.status, answer.body.error.code]).to.deep.equal([503, 'service_unavailable']);
    expect(answer.body.error.message).to.include(
      `at most ${share} lamports to x402 clients at a time. It has lent ${has}, and this call needs ${needed}. Nothing was charged.`,
    );
    // An hour, ten minutes for the archive, and a minute until the relay counts it.
    const most = constants.recordSecondsMin + 660;
    expect(Number(answer.headers.get('retry-after'))).to.be.within(most - 300, most);
    expect(answer.headers.get('payment-response')).to.equal(null);
    expect([await balances(), await countRows(), await lent()]).to.deep.equal([before, rows, has]);

    const { apiKey, wallet: caller } = market.callers[0]!;
    await market.node.fundSol(findSpender(caller.publicKey), 1_000_000_000);
    const keyed = await request(relay.url, `/v1/agents/${market.agentId}/execute`, { apiKey, body: { task: 'x' } });
    expect(keyed.status, keyed.text).to.equal(200);
    const sponsor = (await market.record(keyed.body.execution_id))!.rentSponsor;
    expect(sponsor.toBase58()).to.equal(market.authority.publicKey.toBase58());
  });

  for (const [what, status, answer] of [
    ['fails', 500, failedAnswer],
    ['does not answer in time', 408, null],
  ] as const) {
    it(`answers ${status} if the agent ${what}, sends the price back, and says so`, async () => {
      market.setBehaviour(({ execution_id }, _response, reply) => answer && reply(answer(execution_id)));
      const before = await balances();
      const response = await stock({ task: what, ...(answer === null && { timeout_seconds: 1 }) });
      expect(response.status).to.equal(status);
      expect(moved(before, await balances())).to.include({ wallet: -SERVICE_FEE, creator: 0n, treasury: SERVICE_FEE });
      const receipt = decodeHeader(response, 'payment-response');
      expect(receipt).to.include({ success: false, errorReason: 'refunded' });
      expect(receipt.extensions.execution.refund_transaction).to.be.a('string');
    });
  }

  it('quotes a price in a header that clients can read', async () => {
    const answer = await ask({ task: 'how much?' });
    expect(refused(answer)).to.deep.equal([402, 'payment_required', 'no_payment']);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect(answer.headers.get('payment-required')!.length).to.be.lessThan(MAX_QUOTE_BYTES);
    const required = decodeHeader(answer, 'payment-required');
    expect(required.x402Version).to.equal(2);
    expect(required.resource.url).to.equal(market.relay.url + path());
    const [accepted] = required.accepts;
    expect(accepted).to.include({ scheme: 'exact', amount: String(TOTAL), asset: market.usdcMint.toBase58() });
    expect(accepted.maxTimeoutSeconds).to.equal(90);
    expect(accepted.extra).to.include({ feePayer: feePayer.publicKey.toBase58(), paymentFlow: 'escrow', payer: null });
  });

  it('asks the node nothing for a quote', async () => {
    const relay = await start({ ...proxy.environment, ...x402Key() });
    const quoteAt = () => ask({ task: 'how much?' }, { url: relay.url });
    expect((await quoteAt()).status).to.equal(402);
    const asked: Record<string, number> = {};
    proxy.onCall(({ method }) => {
      asked[method] = (asked[method] ?? 0) + 1;
      return { status: 503 };
    });
    const answers = await Promise.all(Array.from({ length: QUOTES }, quoteAt));
    expect(answers.every(({ status }) => status === 402)).to.equal(true);
    const most = Math.max(0, ...Object.values(asked));
    expect(most, JSON.stringify(asked)).to.be.lessThan(QUOTES / 2);
  });

  it('sells two calls at once to a wallet with money for exactly two, also if it read the money before the first had landed', async () => {
    const relay = await start({ ...proxy.environment, ...x402Key() });
    const by = await rich(2n * TOTAL);
    let held = 0;
    const opened = `SELECT 1 FROM executions WHERE wallet = '${by.publicKey}' AND opened_at IS NOT NULL`;
    proxy.onCall(async ({ method, params }, forward) => {
      // Only a payment is tried as a transaction of version 1.
      if (method !== 'simulateTransaction' || Buffer.from(String(params[0]), 'base64')[0] !== 0x81) return null;
      const json = await forward();
      // The second payment was checked by the money that the first one has left. It goes on once the first is open.
      if ((await usdcOf(by)) === TOTAL) {
        held += 1;
        await until('the first call is open', async () => (await market.query('ledger', opened)).length > 0);
      }
      return { json };
    });
    const answers = await Promise.all(['one', 'two'].map((task) => buy({ task }, { by, url: relay.url })));
    expect(answers.map(({ status, text }) => (status === 200 ? status : text))).to.deep.equal([200, 200]);
    expect(held).to.be.greaterThan(0);
    expect(await usdcOf(by)).to.equal(0n);
  });

  it('checks everything that needs no money before it quotes', async () => {
    expect((await ask({})).status).to.equal(400);
    expect((await ask({ task: 'x', stream: true })).status).to.equal(400);
    expect((await ask({ task: 'x' }, { query: '?payer=nobody' })).status).to.equal(400);
    expect((await ask({ task: 'x' }, { query: '?other=1' })).status).to.equal(400);
    expect((await ask({ task: 'x', max_cost_usdc: 0.25 })).body.error.code).to.equal('price_changed');
  });

  it('gives the same answer to the same payment sent again, and charges it once', async () => {
    const before = await balances();
    const payment = await sign({ task: 'again' });
    let answered = 0;
    const send = async () => {
      const answer = await payment.send();
      answered += 1;
      return answer;
    };
    market.setBehaviour(async ({ execution_id }, _response, reply) => {
      await until('the others are answered', () => answered === 4);
      reply(goodAnswer(market.signingKey, execution_id, 'once'));
    });
    const answers = await Promise.all(Array.from({ length: 5 }, send));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409, 409]);
    const answer = answers.find(({ status }) => status === 200)!;
    const later = await payment.send();
    expect([later.status, later.text]).to.deep.equal([200, answer.text]);
    expect(later.headers.get('idempotent-replayed')).to.equal('true');
    expect(later.headers.get('payment-response')).to.equal(answer.headers.get('payment-response'));
    expect(moved(before, await balances())).to.deep.equal(SOLD);
  });

  it('does not accept a second payment of the same quote, and answers it like the first', async () => {
    const before = await balances();
    const accepted = await quote({ task: 'twice' });
    const first = await buy({ task: 'twice' }, { accepted });
    const second = await buy({ task: 'twice' }, { accepted });
    expect([second.status, second.text]).to.deep.equal([200, first.text]);
    expect(moved(before, await balances())).to.deep.equal(SOLD);
  });

  it('takes a payment with an Idempotency-Key only for a quote that was given with it: else its repeat would pay again', async () => {
    const before = await balances();
    const headers = { 'idempotency-key': 'only-with-the-payment' };
    const accepted = await quote({ task: 'late key' });
    const refusal = await buy({ task: 'late key' }, { accepted, headers });
    const first = refusal.status === 402 ? await buy({ task: 'late key' }, { headers }) : refusal;
    expect(first.status, first.text).to.equal(200);
    const again = await buy({ task: 'late key' }, { headers });
    expect([again.status, again.text]).to.deep.equal([200, first.text]);
    expect(moved(before, await balances())).to.deep.equal(SOLD);
    expect(refused(refusal)).to.deep.equal([402, 'payment_required', 'quote_changed']);
  });

  it('never reports a paid call as refunded: not for another body, and not once its result is gone', async () => {
    const payment = await sign({ task: 'kept' });
    const { status, body } = await payment.send();
    expect(status).to.equal(200);
    const other = await ask({ task: 'not kept' }, payment);
    expect([other.status, other.headers.get('payment-response')]).to.deep.equal([422, null]);
    expect(other.body.error.message).to.match(/^This Idempotency-Key or payment was used before/);
    await market.query('ledger', `DELETE FROM results WHERE execution_id = '${body.execution_id}'`);
    const gone = await payment.send();
    expect([gone.status, gone.body.error.code]).to.deep.equal([410, 'result_unavailable']);
    const receipt = decodeHeader(gone, 'payment-response');
    expect([receipt.success, receipt.errorReason]).to.deep.equal([true, undefined]);
  });

  it('does not call a payment unpaid whose row is lost, and takes no second one', async () => {
    const task = 'without a row';
    const keyed = { 'idempotency-key': 'without-a-row' };
    const { headers, send } = await sign({ task }, { headers: keyed });
    const { status, body } = await send();
    expect(status).to.equal(200);
    const id = body.execution_id;
    await market.untilIndexed(id);
    const before = await balances();
    for (const table of ['results', 'executions']) {
      await market.query('ledger', `DELETE FROM ${table} WHERE execution_id = '${id}'`);
    }
    for (const sent of [headers, { 'payment-signature': headers['payment-signature']! }]) {
      const again = await ask({ task }, { headers: sent });
      expect([again.status, again.body.error.code, again.body.error.execution_id]).to.deep.equal([
        410,
        'result_unavailable',
        id,
      ]);
    }
    expect((await stock({ task }, keyed)).status).to.equal(410);
    // In a later half-hour, the key's new quote names another deposit.
    await market.node.timeTravel((await market.node.now()) + 2_400);
    await request(market.relay.url, '/trpc/config.get');
    expect((await stock({ task }, keyed)).status).to.equal(410);
    expect(moved(before, await balances())).to.include({ wallet: 0n, feePayer: 0 });
  });

  it('answers a new payment with the same Idempotency-Key like the first after the terms have changed, in the next half-hour', async () => {
    const headers = { 'idempotency-key': 'a-key-over-the-turn' };
    const other = await start({ ...x402Key(), X402_SERVICE_FEE_USDC: '0.006' });
    const turn = await travelNearTurn(market.node);
    // An idle relay reads the chain's clock once a minute. These requests make both read at once.
    for (const { url } of [market.relay, other]) await request(url, '/trpc/config.get');
    const send = async (task: string, { url }: { url: string }) => {
      const { accepted, send: pay } = await sign({ task }, { url, headers });
      return { accepted, answer: await pay() };
    };
    const before = await balances();
    let first = await send('turn', market.relay);
    // Until the relay has read the clock, its quotes are too old.
    while (first.answer.body.error?.details?.reason === 'quote_expired') first = await send('turn', market.relay);
    expect(first.answer.status, first.answer.text).to.equal(200);
    const halfHourOf = ({ extra }: Accepted): string => extra.nonce.slice(0, 8);
    const again = async () => {
      const { accepted, answer } = await send('turn', other);
      expect(accepted.amount).to.equal(String(TOTAL + 1_000n));
      const text = answer.text.replaceAll(other.url, market.relay.url);
      expect([answer.status, text]).to.deep.equal([200, first.answer.text]);
      const another = (await send('another', other)).answer;
      expect([another.status, another.body.error.code]).to.deep.equal([422, 'idempotency_key_reused']);
      return halfHourOf(accepted);
    };
    expect(await again()).to.equal(halfHourOf(first.accepted));
    await market.node.timeTravel(turn + 20);
    await until('the relay has read the clock of the new half-hour', async () => {
      await request(other.url, '/trpc/config.get');
      return halfHourOf(await quote({ task: 'a clock' }, { url: other.url })) !== halfHourOf(first.accepted);
    });
    expect(await again()).to.not.equal(halfHourOf(first.accepted));
    expect(moved(before, await balances())).to.deep.equal(SOLD);
  });

  it('raises the service fee with the price of a SOL, honours the fee of an earlier quote, and stops above the limit', async () => {
    const at = (price: string) => start({ ...proxy.environment, ...x402Key(), X402_SOL_PRICE_USDC: price });
    const cheap = await quote({ task: 'at the earlier fee' });
    const dear = await at('200');
    const config = await request(dear.url, '/trpc/config.get');
    expect(config.body.result.data.x402_service_fee_usdc).to.equal(0.009);
    const buyAt = (task: string, accepted: Accepted) => buy({ task }, { accepted, url: dear.url });
    const before = await balances();
    const honoured = await buyAt('at the earlier fee', cheap);
    expect(honoured.status, honoured.text).to.equal(200);
    expect(moved(before, await balances())).to.deep.equal(SOLD);
    const accepted = await quote({ task: 'at the new fee' }, { url: dear.url });
    expect([accepted.amount, accepted.extra.service_fee]).to.deep.equal([String(PRICE + 9_000n), '9000']);
    expect((await buyAt('at the new fee', accepted)).status).to.equal(200);
    expect(moved(before, await balances())).to.deep.equal({
      wallet: 2n * SOLD.wallet - 4_000n,
      creator: 2n * SOLD.creator,
      treasury: 2n * SOLD.treasury + 4_000n,
      feePayer: 2 * SOLD.feePayer,
    });
    proxy.onCall(({ id, method }) => {
      if (method !== 'getRecentPrioritizationFees') return null;
      return { json: { jsonrpc: '2.0', id, result: [{ slot: 1, prioritizationFee: 1_000_000 }] } };
    });
    const unaffordable = await at('1000');
    const answer = await ask({ task: 'at no fee' }, { url: unaffordable.url });
    expect([answer.status, answer.body.error.code]).to.deep.equal([503, 'service_unavailable']);
    expect(answer.body.error.message).to.include('The network fees are too high for calls by x402 clients now.');
  });

  it('answers a payment-identifier that came before, and refuses it for another request', async () => {
    const before = await balances();
    const extensions = { 'payment-identifier': { info: { required: false, id: 'pay_0123456789abcdef' } } };
    const send = (task: string) => buy({ task }, { extensions });
    const first = await send('identified');
    expect(first.status, first.text).to.equal(200);
    expect((await send('identified')).text).to.equal(first.text);
    const other = await send('another');
    expect([other.status, other.body.error.code]).to.deep.equal([409, 'payment_id_reused']);
    expect(moved(before, await balances())).to.deep.equal(SOLD);
  });

  it('answers an asynchronous call when the escrow is funded, and its repeat with the result', async () => {
    let release: (() => void) | null = null;
    const body = { task: 'later', async: true };
    market.setBehaviour(({ execution_id }, _response, reply) => {
      release = () => reply(failedAnswer(execution_id));
    });
    const { send } = await sign(body);
    const first = await send();
    expect([first.status, first.body.status], first.text).to.deep.equal([202, 'pending']);
    expect(first.headers.get('location')).to.equal(`/v1/executions/${first.body.execution_id}`);
    expect(first.headers.get('retry-after')).to.equal('1');
    expect(decodeHeader(first, 'payment-response').success).to.equal(true);
    expect((await send()).status).to.equal(202);
    await until('the creator is called', async () => release !== null);
    release!();
    await until('it has ended', async () => (await send()).status === 500);
  });

  it('with a payer in the URL only that wallet can pay', async () => {
    const query = `?payer=${wallet.publicKey}`;
    const stranger = market.callers[0]!.wallet;
    const accepted = await quote({ task: 'mine' }, { query });
    expect(accepted.extra.payer).to.equal(wallet.publicKey.toBase58());
    expect(refused(await buy({ task: 'mine' }, { accepted, by: stranger, query }))).to.include('payment_invalid');
    expect(refused(await buy({ task: 'mine' }, { accepted }))).to.include('quote_changed');
    expect((await buy({ task: 'mine' }, { accepted, query })).status).to.equal(200);
  });

  it('accepts no payment while the fee payer has too little SOL, reports that to operators, and recovers', async () => {
    const TOO_LITTLE = 1_999_999;
    const fund = (lamports: number) => market.node.fundSol(feePayer.publicKey, lamports);
    const earlier = await sign({ task: 'rich' });
    const answered = await earlier.send();
    expect(answered.status, answered.text).to.equal(200);
    const later = await sign({ task: 'poor' });

    await fund(TOO_LITTLE);
    const shown = () => figuresOf(market.relay.url, 'marketplace_x402_fee_payer_lamports');
    await until('the metric shows it', async () => String(await shown()) === String(TOO_LITTLE));
    const admin = await openSession({ baseUrl: market.relay.url }, keypairSigner(market.node.payer));
    const state = await admin.call('operation.state');
    expect(state.x402).to.include({ fee_payer: feePayer.publicKey.toBase58(), lamports: TOO_LITTLE });
    const before = await balances();
    for (const headers of [later.headers, {}]) {
      const { status, body, headers: sent } = await ask({ task: 'poor' }, { headers });
      expect([status, body.error.code]).to.deep.equal([503, 'service_unavailable']);
      expect(body.error.message).to.include('too little SOL for payments of x402 clients');
      expect([sent.get('retry-after'), sent.get('payment-required')]).to.deep.equal(['1', null]);
    }
    expect(await balances()).to.deep.equal(before);
    expect(await isGone(later.deposit)).to.equal(true);
    const tasks = await market.executionsByTask();
    expect([tasks.has('rich'), tasks.has('poor')]).to.deep.equal([true, false]);
    // Everything else continues: answers to paid calls, and calls with a key.
    expect((await earlier.send()).text).to.equal(answered.text);
    expect((await request(market.relay.url, '/ready')).body).to.include({ status: 'ready' });
    const keyed = { apiKey: market.callers[0]!.apiKey, body: { task: 'with a key' } };
    expect((await request(market.relay.url, `/v1/agents/${market.agentId}/execute`, keyed)).status).to.equal(200);

    const held = await balances();
    await fund(1e9);
    await until('it sells again', async () => {
      const { status, text } = await later.send();
      expect(status, text).to.be.oneOf([200, 503]);
      return status === 200;
    });
    expect(moved({ ...held, feePayer: 1e9 }, await balances())).to.deep.equal(SOLD);
  });

  it('does not start with the key of a relay authority as the fee payer of x402', async () => {
    const refusal = await start(x402Key('relay-authority.json')).then(
      () => 'it started',
      ({ message }: Error) => message,
    );
    const expected = `X402_FEE_PAYER_KEYPAIR is the key of a relay authority, ${market.authority.publicKey}. Create a separate key for it.`;
    expect(refusal).to.equal(expected);
  });
});
