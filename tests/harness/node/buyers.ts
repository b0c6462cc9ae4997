/** x402 clients of a marketplace: their quotes and payments, and the accounts that these change. */
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { findTokenAccount, openExecution, prepareDeposit } from '../../../app/sdk/program/program.ts';
import { deriveExecutionId } from '../../../app/sdk/receipt/receipt.ts';
import { until } from '../edge/until.ts';
import { type Answer, PRICE, request, type TestMarketplace } from './marketplace.ts';
import { type Accepted, decodeHeader, makePayment, type PaymentChange, paymentHeader } from './x402.ts';

export const SERVICE_FEE = 5_000n;
export const TOTAL = PRICE + SERVICE_FEE;
/** Lamports of a payment: two signatures, and its client's priority fee rounded up. */
export const PAYMENT_LAMPORTS = 10_001;

/** A request without a payment. By default it asks the marketplace's agent. */
interface Place {
  url?: string;
  agent?: string;
  query?: string;
  headers?: Record<string, string>;
}

/** By default the default wallet pays a new quote. */
interface Payment extends Place, PaymentChange {
  by?: Keypair;
  accepted?: Accepted;
  extensions?: object;
}

export interface SignedPayment {
  accepted: Accepted;
  deposit: PublicKey;
  payer: Keypair;
  headers: Record<string, string>;
  /** Sends it, also repeatedly, and to another relay. */
  send(url?: string): Promise<Answer>;
}

/** The terms of a deposit by its quote. */
export const termsOf = ({ extra }: Accepted) => ({
  listing: new PublicKey(extra.listing),
  listingVersion: Number(extra.listing_version),
  requestHash: Buffer.from(extra.request_hash, 'hex'),
  timeoutSeconds: Number(extra.timeout_seconds),
  nonce: Buffer.from(extra.nonce, 'hex'),
});

/** The default `wallet` pays where a test names no payer. `url` is the relay's. */
export function createBuyers(market: TestMarketplace, wallet?: Keypair, url = () => market.relay.url) {
  const path = ({ agent = market.agentId, query = '' }: Place = {}) => `/v1/x402/agents/${agent}/execute${query}`;
  const ask = (body: object, place: Place = {}): Promise<Answer> =>
    request(place.url ?? url(), path(place), { body, headers: place.headers });

  async function quote(body: object, place: Place = {}): Promise<Accepted> {
    const answer = await ask(body, place);
    expect(answer.status, answer.text).to.equal(402);
    return decodeHeader(answer, 'payment-required').accepts[0];
  }

  let payments = 0;
  async function sign(body: object, payment: Payment = {}): Promise<SignedPayment> {
    const accepted = payment.accepted ?? (await quote(body, payment));
    const payer = (payment.by ?? wallet)!;
    payments += 1;
    const headers = {
      // Few payments of new wallets may be on their way from one address.
      'x-forwarded-for': `203.0.113.${payments % 256}`,
      ...payment.headers,
      'payment-signature': paymentHeader(
        accepted,
        await makePayment(market.node, accepted, payer, payment),
        payment.extensions,
      ),
    };
    const send = (to = payment.url) => ask(body, { ...payment, headers, url: to });
    return { accepted, deposit: new PublicKey(accepted.payTo), payer, headers, send };
  }

  return {
    path,
    ask,
    quote,
    sign,
    buy: async (body: object, payment?: Payment): Promise<Answer> => (await sign(body, payment)).send(),
    /** A new wallet with this USDC. */
    async rich(usdc = TOTAL): Promise<Keypair> {
      const payer = Keypair.generate();
      await market.mintTo(payer.publicKey, usdc);
      return payer;
    },
    usdcOf: ({ publicKey }: { publicKey: PublicKey }) => market.amountOf(findTokenAccount(publicKey, market.usdcMint)),
    lamports: ({ publicKey }: { publicKey: PublicKey }) => market.node.connection.getBalance(publicKey, 'confirmed'),
    /** If a deposit and its vault are closed. */
    async isGone(deposit: PublicKey): Promise<boolean> {
      const addresses = [deposit, findTokenAccount(deposit, market.usdcMint)];
      const accounts = await market.node.connection.getMultipleAccountsInfo(addresses, 'confirmed');
      return accounts.every((account) => account === null);
    },
    /** The final answer to a payment, by repeating it as its client would. */
    async endOf(send: () => Promise<Answer>, waiting = [202, 409]): Promise<Answer> {
      let answer: Answer | undefined;
      await until('it has ended', async () => {
        answer = await send();
        return !waiting.includes(answer.status);
      });
      return answer!;
    },
    /** The open of a quoted execution by its payer, from the payer's own account. */
    async ownOpen({ publicKey }: Keypair, accepted: Accepted, change: { requestHash?: Buffer } = {}) {
      const terms = termsOf(accepted);
      return openExecution({
        ...terms,
        caller: publicKey,
        payer: publicKey,
        rentSponsor: publicKey,
        source: findTokenAccount(publicKey, market.usdcMint),
        usdcMint: market.usdcMint,
        executionId: deriveExecutionId(publicKey.toBytes(), terms.nonce),
        maxPrice: PRICE,
        openBefore: BigInt(await market.node.now()) + 60n,
        gasLamports: 10_000,
        ...change,
      });
    },
    /** The deposit of a quote for this caller, by a transaction that the relay does not know. */
    prepareFor(accepted: Accepted, { publicKey: caller }: Keypair) {
      const { usdcMint, authority } = market;
      const key = authority.publicKey;
      const quoted = { terms: termsOf(accepted), payer: null, price: PRICE, serviceFee: SERVICE_FEE, usdcMint };
      return prepareDeposit({ ...quoted, caller, authority: key, rentPayer: key, rentSponsor: key });
    },
  };
}
