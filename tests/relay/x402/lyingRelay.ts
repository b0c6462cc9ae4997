import { json } from 'node:stream/consumers';
import { type Keypair, PublicKey, type TransactionInstruction, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'chai';
import { networkOf, quoteOf, secretOf, toRequirements } from '../../../app/relay/calls/x402/quote.ts';
import * as program from '../../../app/sdk/program/program.ts';
import * as receipt from '../../../app/sdk/receipt/receipt.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { serve } from '../../harness/edge/listen.ts';
import { until } from '../../harness/edge/until.ts';
import { SERVICE_FEE, termsOf } from '../../harness/node/buyers.ts';
import { PRICE, type TestMarketplace } from '../../harness/node/marketplace.ts';
import { type Accepted, createX402Fetch } from '../../harness/node/x402.ts';

/** Lamports that the relay puts into a record. */
const GAS = 10_000;

/** A quote, and the payment that its client signed. */
export interface Paid {
  accepted: Accepted;
  payload: { transaction: string };
}

/** Base units and lamports. */
type Change = { usdc?: bigint; lamports?: number };

/** Returns a function that expects exactly these changes of the balances of wallets and treasury during an action. */
export function watchBalances(market: TestMarketplace, wallets: Record<string, Keypair>) {
  const treasury = { owner: program.findTreasury(), account: program.findTreasury() };
  async function read(): Promise<Record<string, Required<Change>>> {
    const places = Object.entries(wallets).map(([name, { publicKey: owner }]) => {
      return { name, owner, account: program.findTokenAccount(owner, market.usdcMint) };
    });
    const balances = [...places, { name: 'treasury', ...treasury }].map(async ({ name, owner, account }) => {
      const lamports = await market.node.connection.getBalance(owner, 'confirmed');
      return [name, { usdc: await market.amountOf(account), lamports }] as const;
    });
    return Object.fromEntries(await Promise.all(balances));
  }
  return async (expected: Record<string, Change>, action: () => Promise<unknown>): Promise<void> => {
    const before = await read();
    await action();
    const changes: Record<string, Change> = {};
    for (const [name, after] of Object.entries(await read())) {
      const usdc = after.usdc - before[name]!.usdc;
      const lamports = after.lamports - before[name]!.lamports;
      if (usdc || lamports) changes[name] = { ...(usdc && { usdc }), ...(lamports && { lamports }) };
    }
    expect(changes).to.deep.equal(expected);
  };
}

export type LyingRelay = Awaited<ReturnType<typeof startLyingRelay>>;

export async function startLyingRelay(market: TestMarketplace, feePayer: Keypair) {
  const { usdcMint, agentId, authority } = market;
  const { connection } = market.node;
  const relay = authority.publicKey;
  const network = networkOf(await connection.getGenesisHash());
  const keys = { feePayer: feePayer.publicKey, secret: secretOf(feePayer), ownKeys: [] };
  const x402 = { ...keys, network, usdcMint, serviceFee: () => SERVICE_FEE };
  const payments: Paid[] = [];
  // Bytes of a deposit and a token account.
  const sizes = [139, 165].map((bytes) => connection.getMinimumBalanceForRentExemption(bytes));
  const [deposit, token] = (await Promise.all(sizes)) as [number, number];
  let lie: (quote: Accepted) => Accepted = (quote) => quote;

  async function quote(task: string, payer: string | null): Promise<Accepted> {
    const terms = quoteOf(x402, {
      listing: agentId,
      listingVersion: 1,
      requestHash: Buffer.from(receipt.requestHash(task)).toString('hex'),
      timeoutSeconds: 60,
      nonce: Buffer.from(receipt.createNonce(receipt.nonceHalfHour(BigInt(await market.node.now())))),
      payer,
      price: PRICE,
      serviceFee: SERVICE_FEE,
    });
    return toRequirements(x402, terms, Date.now() + 60_000);
  }
  const { url, close: stop } = await serve(async (request, response) => {
    const { task } = (await json(request)) as { task: string };
    const header = request.headers['payment-signature'];
    if (header) {
      payments.push(JSON.parse(Buffer.from(String(header), 'base64').toString()));
      return void response.writeHead(503).end('{}');
    }
    const { href, searchParams } = new URL(request.url!, url);
    const accepts = [lie(await quote(task, searchParams.get('payer')))];
    const required = { x402Version: 2, resource: { url: href }, accepts };
    response.writeHead(402, { 'payment-required': Buffer.from(JSON.stringify(required)).toString('base64') }).end('{}');
  });

  const usdcOf = ({ publicKey }: Keypair) => program.findTokenAccount(publicKey, usdcMint);
  const send = (instructions: TransactionInstruction[], by = authority) =>
    sendTransaction(connection, instructions, keypairSigner(by));
  /** The deposit that a quote's terms lead to, for its payer or another one. */
  function depositFor(accepted: Accepted, payer: PublicKey | null = accepted.extra.payer) {
    const quoted = payer && new PublicKey(payer);
    return { terms: termsOf(accepted), payer: quoted, price: PRICE, serviceFee: SERVICE_FEE, usdcMint };
  }
  async function readDeposit({ accepted }: Paid) {
    const account = await connection.getAccountInfo(new PublicKey(accepted.payTo), 'confirmed');
    return account && program.decodeAccount('Deposit', account.data);
  }

  /** Signs a payment as the fee payer, and sends it. */
  async function land({ payload }: Paid): Promise<void> {
    const transaction = VersionedTransaction.deserialize(Buffer.from(payload.transaction, 'base64'));
    transaction.sign([feePayer]);
    const options = { preflightCommitment: 'confirmed' } as const;
    const signature = await connection.sendRawTransaction(transaction.serialize(), options);
    await until('the payment has landed', async () => {
      const [status] = (await connection.getSignatureStatuses([signature])).value;
      return status?.err === null && status.confirmationStatus !== 'processed';
    });
  }
  function prepare({ accepted }: Paid, caller: Keypair, change: { payer?: PublicKey | null } = {}) {
    const lender = { authority: relay, rentPayer: relay, rentSponsor: relay };
    return program.prepareDeposit({ ...depositFor(accepted, change.payer), ...lender, caller: caller.publicKey });
  }

  return {
    url,
    /** Signed payments, in the order in which they arrived. */
    payments,
    /** Lamports of a deposit with its vault. */
    rent: deposit + token,
    setLie(next: typeof lie) {
      lie = next;
    },
    send,
    /** The address of the deposit that this quote would have if it named this payer. */
    addressFor: (quote: Accepted, payer: PublicKey) =>
      program.depositAddress(depositFor(quote, payer)).address.toBase58(),
    readDeposit,
    /** USDC in a payment's vault. */
    heldBy: ({ accepted }: Paid) => market.amountOf(program.findTokenAccount(new PublicKey(accepted.payTo), usdcMint)),
    /** An unchanged x402 client of this wallet signs a payment. Returns it. */
    async sell(wallet: Keypair, task: string, query = ''): Promise<Paid> {
      const pay = await createX402Fetch(wallet, market.node.rpcUrl);
      const headers = { 'content-type': 'application/json' };
      const path = `${url}/v1/x402/agents/${agentId}/execute${query}`;
      await pay(path, { method: 'POST', headers, body: JSON.stringify({ task }) });
      return payments.at(-1)!;
    },
    land,
    prepare,
    /** Does what an honest relay does with a payment. */
    async take(paid: Paid, caller: Keypair): Promise<void> {
      await send([prepare(paid, caller)]);
      await land(paid);
    },
    /** The name of an error of the program, else the number of another one. */
    refusal: (instruction: TransactionInstruction, by = authority): Promise<string> =>
      send([instruction], by).then(
        () => 'accepted',
        ({ code, message }) => code ?? /custom program error: (0x[0-9a-f]+)/.exec(message)?.[1] ?? message,
      ),
    async open({ accepted }: Paid, caller: Keypair, change: Partial<program.OpenExecutionFromDepositInput> = {}) {
      const { terms, payer: quotedPayer } = depositFor(accepted);
      return program.openExecutionFromDeposit({
        ...terms,
        executionId: receipt.deriveExecutionId(caller.publicKey.toBytes(), terms.nonce),
        maxPrice: PRICE,
        openBefore: BigInt(await market.node.now()) + 60n,
        gasLamports: GAS,
        relayAuthority: relay,
        payer: relay,
        rentSponsor: relay,
        depositRentSponsor: relay,
        usdcMint,
        quotedPayer,
        deposit: new PublicKey(accepted.payTo),
        ...change,
      });
    },
    refund({ accepted }: Paid, to: Keypair, by = authority) {
      const [deposit, destination] = [new PublicKey(accepted.payTo), usdcOf(to)];
      return program.refundDeposit({ authority: by.publicKey, deposit, destination, rentSponsor: relay, usdcMint });
    },
    /** Moves the clock to the end of a deposit. */
    async expire(paid: Paid): Promise<void> {
      await market.node.timeTravel(Number((await readDeposit(paid))!.expiresAt));
    },
    stop,
  };
}
