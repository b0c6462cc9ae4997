/** The side of x402's `exact` scheme: payer, seller and facilitator from its own packages, on one of our test nodes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { createTransferInstruction } from '@solana/spl-token';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { sendTransaction } from '../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import { startMarketplace, type TestMarketplace } from '../../tests/harness/node/marketplace.ts';
import { type Child, startChild } from '../processes.ts';
import { CASES, type Loss, lossOf, PRICE, PRICE_USDC, type Side } from './side.ts';

/** Time for the payer to move its money away while the work runs. */
const HEAD_START_MS = 300;
/** After this time, no sent transaction is still in flight. */
const SETTLED_MS = 1_500;

interface X402 extends Side {
  market: TestMarketplace;
  /** Posts to a route of the seller and pays if asked to. `pay` replaces the paying fetch. */
  post(path: string, pay?: typeof fetch): Promise<Response>;
  payer: Keypair;
  facilitatorAddress: PublicKey;
  killFacilitator(): Promise<void>;
  startFacilitator(): Promise<void>;
  /** The facilitator ends when it has sent its next transaction. */
  armFacilitator(): Promise<void>;
  /** The listener is called each time the seller has done its work. */
  onRun(listener: () => void): void;
  answerHeld(): void;
}

/** Starts everything on a fresh node with the same history as ours. */
export async function startX402(slotTimeMs: number): Promise<X402> {
  const market = await startMarketplace({ slotTimeMs, price: PRICE_USDC });
  // The marketplace has written the same history as on our side. Only its node is needed now.
  await market.relay.kill();
  const { node } = market;
  const payer = market.callers[0]!.wallet;
  const authority = Keypair.generate();
  const funds = 100e9;
  await node.fundSol(authority.publicKey, funds);
  const feePayerLamports = () => node.connection.getBalance(authority.publicKey, 'finalized');
  const secret = Buffer.from(authority.secretKey).toString('hex');
  const start = (port: number) =>
    startChild<{ port: number }>('peers/facilitatorProcess.ts', [node.rpcUrl, String(port), secret]);
  let facilitator: Child<{ port: number }> = await start(0);
  const { port } = facilitator.ready;
  const seller = await startChild<{ port: number }>('peers/sellerProcess.ts', [
    `http://127.0.0.1:${port}`,
    market.creator.publicKey.toBase58(),
    market.usdcMint.toBase58(),
    String(PRICE),
  ]);
  // Without a listener, messages are queued for the first listener.
  seller.onMessage(() => undefined);
  const pay = await createPayer(payer, node.rpcUrl);
  const post = (path: string, by: typeof fetch = pay) =>
    by(`http://127.0.0.1:${seller.ready.port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ task: 'bench' }),
    });
  return {
    market,
    payer,
    facilitatorAddress: authority.publicKey,
    post,
    async call() {
      const response = await post('/paid');
      await response.text();
      if (response.status !== 200) throw new Error(`the seller answered ${response.status}`);
    },
    feePayerLamports,
    // The account pays for nothing else.
    fees: async () => funds - (await feePayerLamports()),
    killFacilitator: () => facilitator.kill(),
    async startFacilitator() {
      await facilitator.kill();
      facilitator = await start(port);
    },
    async armFacilitator() {
      await facilitator.ask({ dieAfterSend: true });
    },
    onRun: (listener) => seller.onMessage(listener),
    answerHeld: () => seller.tell({}),
    async stop() {
      await facilitator.kill();
      await seller.kill();
      await market.stop();
    },
  };
}

async function createClient(payer: Keypair, rpcUrl: string): Promise<x402Client> {
  const signer = await createKeyPairSignerFromBytes(payer.secretKey);
  const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
  // The client knows only the USDC of mainnet and devnet; this mint is our own.
  client.setSpendControls(false);
  return client;
}

async function createPayer(payer: Keypair, rpcUrl: string, send: typeof fetch = fetch): Promise<typeof fetch> {
  return wrapFetchWithPayment(send, await createClient(payer, rpcUrl)) as typeof fetch;
}

/** Runs each fault and returns the losses. */
export async function x402Losses(side: X402): Promise<Loss[]> {
  const { market, payer } = side;
  const losses: Loss[] = [];
  let ran = 0;
  let whenRun = (): void => undefined;
  side.onRun(() => {
    ran += 1;
    whenRun();
  });
  const look = async () => ({
    ran,
    payer: Number(await market.amountOf(market.callers[0]!.usdc)),
    creator: Number(await market.amountOf(market.creatorUsdc)),
    lamports: await side.feePayerLamports(),
  });
  async function one(name: string, run: () => Promise<string>): Promise<void> {
    const settled = async () => {
      const client = await run();
      // A sent transaction may land after its sender has died.
      await sleep(SETTLED_MS);
      return client;
    };
    losses.push(await lossOf(name, look, settled));
    whenRun = () => undefined;
  }
  const told = async (path: string, by?: typeof fetch) => String((await side.post(path, by)).status);

  await one(CASES.fails, () => told('/fails'));
  await one(CASES.failsUpfront, () => told('/fails-upfront'));
  await one(CASES.diesBefore, async () => {
    whenRun = () => void side.killFacilitator().then(side.answerHeld);
    const status = await told('/hold');
    await side.startFacilitator();
    return status;
  });
  await one(CASES.diesAfter, async () => {
    await side.armFacilitator();
    const first = await told('/paid');
    await side.startFacilitator();
    return `${first}, then ${await told('/paid')}`;
  });
  await one(CASES.twice, async () => {
    const header = await catchPayment(payer, market.node.rpcUrl, side);
    const withHeader: typeof fetch = (input, init) =>
      fetch(input, { ...init, headers: { ...(init?.headers as object), 'payment-signature': header } });
    return (await Promise.all([told('/paid', withHeader), told('/paid', withHeader)])).sort().join(' and ');
  });
  await one(CASES.movesAway, async () => {
    const poor = Keypair.generate();
    await market.node.fundSol(poor.publicKey, 1e9);
    const source = await market.mintTo(poor.publicKey, PRICE);
    const by = await createPayer(poor, market.node.rpcUrl);
    const answer = told('/slow', by);
    await sleep(HEAD_START_MS);
    // The destination's balance is not measured.
    const away = createTransferInstruction(source, market.callers[1]!.usdc, poor.publicKey, PRICE);
    await sendTransaction(market.node.connection, [away], keypairSigner(poor));
    return answer;
  });
  return losses;
}

/** Returns the payment header that a client would send, without sending it. */
async function catchPayment(payer: Keypair, rpcUrl: string, side: X402): Promise<string> {
  let caught = '';
  const by = await createPayer(payer, rpcUrl, async (input, init) => {
    const header = input instanceof Request ? input.headers.get('payment-signature') : null;
    if (header === null) return fetch(input, init);
    caught = header;
    return new Response('{}', { status: 503 });
  });
  await side.post('/paid', by);
  if (caught === '') throw new Error('the client sent no payment');
  return caught;
}
