/**
 * Our sides of the comparison: the marketplace of the tests, called with an API key or by an x402 client. The relay is
 * killed at the same points as the facilitator of the other side.
 */
import { createTransferInstruction } from '@solana/spl-token';
import { Keypair } from '@solana/web3.js';
import { openDatabase } from '../../app/database/open.ts';
import { ledgerPath } from '../../app/relay/config.ts';
import { sendTransaction } from '../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import { until } from '../../tests/harness/edge/until.ts';
import {
  goodAnswer,
  type RelayHandle,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../tests/harness/node/marketplace.ts';
import { stopAt } from '../../tests/harness/node/standstill.ts';
import { createX402Fetch } from '../../tests/harness/node/x402.ts';
import { CASES, type Loss, lossOf, PRICE_USDC, type Side } from './side.ts';

const SLOW_MS = 1_500;

interface Ours extends Side {
  market: TestMarketplace;
  /** Sends a paid call to the relay at this address. Returns the HTTP status. */
  ask(url: string, call: Call): Promise<number>;
}

interface Call {
  task: string;
  /** Sent as the Idempotency-Key. */
  key?: string;
}

/** The side that is called with an API key. */
export async function startOurs(slotTimeMs: number): Promise<Ours> {
  const market = await startMarketplace({ slotTimeMs, price: PRICE_USDC });
  const ask = async (url: string, { task, key }: Call) => {
    const { status } = await request(url, `/v1/agents/${market.agentId}/execute`, {
      apiKey: market.callers[0]!.apiKey,
      body: { task },
      headers: keyHeader(key),
    });
    return status;
  };
  return toSide(market, ask, async () => 0);
}

/** The side that is called by x402's own client, which pays into a deposit. */
export async function startDoor(slotTimeMs: number): Promise<Ours> {
  const feePayer = Keypair.generate();
  const market = await startMarketplace({ slotTimeMs, price: PRICE_USDC, feePayer });
  const pay = await createX402Fetch(market.callers[0]!.wallet, market.node.rpcUrl);
  const ask = async (url: string, { task, key }: Call) => {
    const response = await pay(`${url}/v1/x402/agents/${market.agentId}/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...keyHeader(key) },
      body: JSON.stringify({ task }),
    });
    await response.text();
    return response.status;
  };
  const balance = () => market.node.connection.getBalance(feePayer.publicKey, 'finalized');
  const funds = await balance();
  return toSide(market, ask, async () => funds - (await balance()));
}

/** `feesOfPayments`: lamports that the fee payer has spent on the payments of x402 clients. */
function toSide(market: TestMarketplace, ask: Ours['ask'], feesOfPayments: () => Promise<number>): Ours {
  const authorityLamports = () => market.node.connection.getBalance(market.authority.publicKey, 'finalized');
  return {
    market,
    ask,
    async call() {
      const status = await ask(market.relay.url, { task: 'bench' });
      if (status !== 200) throw new Error(`the relay answered ${status}`);
    },
    feePayerLamports: async () => (await authorityLamports()) - (await feesOfPayments()),
    fees: async () => readFees(market),
    stop: () => market.stop(),
  };
}

const keyHeader = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'idempotency-key': key };

/** Network fees of all transactions that the relay has signed, lamports. Unlike rent, they are not refunded. */
function readFees(market: TestMarketplace): number {
  const { sqlite, close } = openDatabase(ledgerPath(market.dataDir), { readonly: true });
  const { fees } = sqlite.prepare('SELECT coalesce(sum(fees), 0) AS fees FROM executions').get() as { fees: bigint };
  close();
  return Number(fees);
}

/** Runs each fault and returns the losses. Same cases in the same order as `x402Losses`. */
export async function ourLosses({ market, ask, fees }: Ours): Promise<Loss[]> {
  const losses: Loss[] = [];
  await market.relay.kill();
  let relay: RelayHandle = await market.startRelayProcess({ STANDSTILL: 'true' });
  const look = async () => {
    const { callers, creator } = await market.balances();
    // Sum of both, because in the last case one sends its money to the other.
    const ran = [...market.calls.values()].reduce((sum, count) => sum + count, 0);
    return { ran, payer: Number(callers[0]! + callers[1]!), creator: Number(creator), lamports: -(await fees()) };
  };
  async function one(name: string, run: () => Promise<string>): Promise<void> {
    losses.push(await lossOf(name, look, run));
    market.setBehaviour(null);
  }
  const told = async (call: Call) => String(await ask(relay.url, call));
  /** Makes a call, kills the relay at this point, starts another, and repeats the request until it is answered. */
  async function killAt(point: string): Promise<string> {
    const asked = { task: stopAt(point), key: `killed-${point}` };
    const lost = told(asked).catch(() => 'connection lost');
    await until(`the call stands at ${point}`, async () => relay.standing.has(asked.task));
    await relay.kill();
    relay = await market.startRelayProcess();
    let answer = '';
    await until('the repeated request is answered', async () => {
      answer = await told(asked);
      return answer !== '409' && answer !== '503';
    });
    await relay.kill();
    relay = await market.startRelayProcess({ STANDSTILL: 'true' });
    return `${await lost}, then ${answer}`;
  }
  const fail = (_request: unknown, response: { statusCode: number; end(text: string): unknown }) => {
    response.statusCode = 500;
    response.end('it failed');
  };

  try {
    for (const name of [CASES.fails, CASES.failsUpfront]) {
      await one(name, () => {
        market.setBehaviour(fail);
        return told({ task: 'fails' });
      });
    }
    await one(CASES.diesBefore, () => killAt('verified:before'));
    await one(CASES.diesAfter, () => killAt('send-settle:sent'));
    await one(CASES.twice, async () => {
      const asked = { task: 'twice', key: 'twice' };
      return (await Promise.all([told(asked), told(asked)])).sort().join(' and ');
    });
    await one(CASES.movesAway, async () => {
      const started = new Promise<void>((resolve) => {
        market.setBehaviour(({ execution_id, task }, _response, reply) => {
          resolve();
          setTimeout(() => reply(goodAnswer(market.signingKey, execution_id, task)), SLOW_MS);
        });
      });
      const answer = told({ task: 'slow' });
      await started;
      const [payer, other] = market.callers;
      const all = await market.amountOf(payer!.usdc);
      const away = createTransferInstruction(payer!.usdc, other!.usdc, payer!.wallet.publicKey, all);
      await sendTransaction(market.node.connection, [away], keypairSigner(payer!.wallet));
      return answer;
    });
    return losses;
  } finally {
    await relay.kill();
  }
}
