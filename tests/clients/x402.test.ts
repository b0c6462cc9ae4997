/** The TypeScript client pays from a wallet by x402 on a real marketplace, with x402's own packages. */
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import {
  AgentMarketplace,
  APIConnectionError,
  ConflictError,
  ExecutionFailedError,
  type Options,
  type Payment,
  PermissionDeniedError,
  PriceChangedError,
  WaitTimeoutError,
} from '../../app/sdk/client/caller.ts';
import { type CheckedQuote, payWithX402, QuoteRefusedError } from '../../app/sdk/client/x402.ts';
import { findTokenAccount } from '../../app/sdk/program/program.ts';
import { FEE, failedAnswer, PRICE, startMarketplace, type TestMarketplace } from '../harness/node/marketplace.ts';
import { decodeHeader } from '../harness/node/x402.ts';

const SERVICE_FEE = 5_000n;
const LIMIT = { maxCostUsdc: '0.255' };

describe('clients/x402', () => {
  let market: TestMarketplace;
  let payment: Payment;
  let quotes: CheckedQuote[];
  const wallet = Keypair.generate();

  before(async () => {
    market = await startMarketplace({ feePayer: Keypair.generate() });
    await market.mintTo(wallet.publicKey, 10_000_000n);
    payment = payWithX402({
      wallet: await createKeyPairSignerFromBytes(wallet.secretKey),
      network: 'devnet',
      asset: market.usdcMint.toBase58(),
      rpcUrl: market.node.rpcUrl,
      onQuote: (quote) => void quotes.push(quote),
    });
  });
  after(() => market?.stop());
  beforeEach(() => {
    quotes = [];
    market.setBehaviour(null);
  });

  const run = (task: string, options: Options = {}, limit: object = LIMIT) =>
    new AgentMarketplace({ baseUrl: market.relay.url, payment, ...options }).agents.run(
      market.agentId,
      { task, parameters: { creator: 'of a test' } },
      limit,
    );
  const balances = async () => ({
    wallet: await market.amountOf(findTokenAccount(wallet.publicKey, market.usdcMint)),
    creator: await market.amountOf(market.creatorUsdc),
  });
  /** Runs a call and returns the changes of balances. */
  async function moved(call: () => Promise<unknown>) {
    const before = await balances();
    await call();
    const after = await balances();
    return { wallet: after.wallet - before.wallet, creator: after.creator - before.creator };
  }
  const refusal = (call: Promise<unknown>): Promise<Error> =>
    call.then(
      () => expect.fail('expected a refusal'),
      (error: Error) => error,
    );
  /** A fetch that sends requests and changes the answers. `isPaid` is true if the request carried a payment. */
  function changing(change: (response: Response, isPaid: boolean) => Promise<Response> | Response) {
    const paid: string[] = [];
    const send = async (url: string | URL | Request, init: RequestInit = {}) => {
      const header = new Headers(init.headers).get('payment-signature');
      if (header !== null) paid.push(header);
      return change(await fetch(url, init), header !== null);
    };
    return { fetch: send as typeof fetch, paid };
  }
  const ID = '511e23f8-8651-858f-b821-1091b7eebbd9';
  const REFUSAL = {
    error: { code: 'address_not_allowed', message: 'not from here', execution_id: null, details: null },
  };
  const running = (wait: string) =>
    Response.json({ execution_id: ID, status: 'running' }, { status: 202, headers: { 'retry-after': wait } });
  const BOUGHT = { wallet: -(PRICE + SERVICE_FEE), creator: PRICE - FEE };

  it('buys a call without a key or SOL, after it has checked the quote', async () => {
    const change = await moved(async () => expect(await run('buy me')).to.include({ result: 'done: buy me' }));
    expect(change).to.deep.equal(BOUGHT);
    expect(quotes).to.have.length(1);
    expect(quotes[0]).to.include({ amount: PRICE + SERVICE_FEE, price: PRICE, serviceFee: SERVICE_FEE });
    expect(await market.node.connection.getBalance(wallet.publicKey)).to.equal(0);
  });

  it('pays once if the answer to its payment is lost, and gets the answer', async () => {
    let lost = 0;
    const { fetch: losing, paid } = changing(async (response, isPaid) => {
      if (!isPaid || lost > 0) return response;
      lost += 1;
      await response.text();
      throw new TypeError('the connection broke');
    });
    const change = await moved(async () => {
      expect(await run('lost', { fetch: losing })).to.include({ result: 'done: lost' });
    });
    expect(change).to.deep.equal(BOUGHT);
    expect(paid).to.have.length(2);
    expect(new Set(paid).size).to.equal(1);
  });

  it('repeats its payment after 202 until it gets the answer', async () => {
    let looks = 0;
    const { fetch: slowly, paid } = changing((response, isPaid) => {
      if (!isPaid || looks > 0) return response;
      looks += 1;
      return running('1');
    });
    const change = await moved(() => run('slowly', { fetch: slowly }));
    expect(change).to.deep.equal(BOUGHT);
    expect(paid).to.have.length(2);
  });

  it('says that the call runs, not that it was refused, if asking again is refused', async () => {
    const refusing = changing(async (response, isPaid) => {
      if (!isPaid) return response;
      if (refusing.paid.length > 1) return Response.json(REFUSAL, { status: 403 });
      await response.text();
      return running('1');
    });
    const change = await moved(async () => {
      const error = (await refusal(run('refused later', { fetch: refusing.fetch }))) as ConflictError;
      expect(error).to.be.instanceOf(ConflictError).and.include({ code: 'request_in_progress', executionId: ID });
      expect(error.cause).to.be.instanceOf(PermissionDeniedError);
      const { idempotencyKey } = error;
      expect(await run('refused later', {}, { ...LIMIT, idempotencyKey })).to.include({
        result: 'done: refused later',
      });
    });
    expect(change).to.deep.equal(BOUGHT);
  });

  it('names the execution if the connection breaks after 202; a repeat with the key pays nothing more', async () => {
    const breaking = changing(async (response, isPaid) => {
      if (!isPaid) return response;
      if (breaking.paid.length > 1) throw new TypeError('the connection broke');
      await response.text();
      return running('0');
    });
    const change = await moved(async () => {
      const options = { fetch: breaking.fetch, maxRetries: 0 };
      const error = (await refusal(run('broken later', options))) as APIConnectionError;
      expect(error).to.be.instanceOf(APIConnectionError).and.include({ executionId: ID });
      const { idempotencyKey } = error;
      expect(await run('broken later', {}, { ...LIMIT, idempotencyKey })).to.include({ result: 'done: broken later' });
    });
    expect(change).to.deep.equal(BOUGHT);
  });

  it('reports the key of a call at its timeout; a repeat with it finds the call and pays nothing more', async () => {
    const { fetch: endless } = changing((response, isPaid) => (isPaid ? running('60') : response));
    const change = await moved(async () => {
      const error = await refusal(run('too long', { fetch: endless }, { ...LIMIT, timeout: 3_000 }));
      expect(error).to.be.instanceOf(WaitTimeoutError);
      const { idempotencyKey } = error as WaitTimeoutError;
      expect(await run('too long', {}, { ...LIMIT, idempotencyKey })).to.include({ result: 'done: too long' });
    });
    expect(change).to.deep.equal(BOUGHT);
  });

  it('gets the price back if the agent fails, and throws its error', async () => {
    market.setBehaviour(({ execution_id }, _, reply) => reply(failedAnswer(execution_id)));
    const change = await moved(async () => {
      expect(await refusal(run('fail me'))).to.be.instanceOf(ExecutionFailedError);
    });
    expect(change).to.deep.equal({ wallet: -SERVICE_FEE, creator: 0n });
  });

  it('pays nothing above its limit, which includes the service fee', async () => {
    const change = await moved(async () => {
      expect(await refusal(run('dear', {}, { maxCostUsdc: 0.254999 }))).to.be.instanceOf(PriceChangedError);
      expect(await refusal(run('no limit', {}, {}))).to.be.instanceOf(TypeError);
    });
    expect(change).to.deep.equal({ wallet: 0n, creator: 0n });
    expect(quotes).to.deep.equal([]);
  });

  const LIES: Record<string, (accepted: Record<string, unknown>) => void> = {
    payTo: (accepted) => {
      accepted.payTo = Keypair.generate().publicKey.toBase58();
    },
    amount: (accepted) => {
      accepted.amount = String(2n * PRICE);
    },
    'extra.payer': (accepted) => {
      (accepted.extra as { payer: string }).payer = Keypair.generate().publicKey.toBase58();
    },
  };
  for (const [field, lie] of Object.entries(LIES)) {
    it(`signs nothing for a relay that lies about ${field}`, async () => {
      const { fetch: lying, paid } = changing((response, isPaid) => {
        if (isPaid) return response;
        const required = decodeHeader(response, 'payment-required');
        lie(required.accepts[0]);
        const header = Buffer.from(JSON.stringify(required)).toString('base64');
        return new Response('{}', { status: 402, headers: { 'payment-required': header } });
      });
      const change = await moved(async () => {
        expect(await refusal(run('lie to me', { fetch: lying })))
          .to.be.instanceOf(QuoteRefusedError)
          .and.include({ field });
      });
      expect(paid).to.deep.equal([]);
      expect(change).to.deep.equal({ wallet: 0n, creator: 0n });
    });
  }
});
