/**
 * A whole marketplace under attack: wallets of the attacker, honest callers beside them, and the gains and losses of both
 * sides, read from the chain.
 */
import { AccountLayout, createCloseAccountInstruction, createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { chunks } from '../../app/process/chunks.ts';
import { generateSigningKey } from '../../app/sdk/creator/creator.ts';
import {
  findEscrow,
  findExecution,
  findSpender,
  findTokenAccount,
  findUnclaimed,
} from '../../app/sdk/program/program.ts';
import { readTransaction } from '../../app/sdk/program/transaction.ts';
import { parseUuid } from '../../app/sdk/receipt/receipt.ts';
import { createKey } from '../../app/sdk/wallet/apiKeys.ts';
import { sendTransaction } from '../../app/sdk/wallet/send.ts';
import { keypairSigner, type Signer } from '../../app/sdk/wallet/signer.ts';
import { until } from '../../tests/harness/edge/until.ts';
import {
  type Answer,
  failedAnswer,
  goodAnswer,
  PRICE,
  request,
  startMarketplace,
} from '../../tests/harness/node/marketplace.ts';
import { startRpcProxy } from '../../tests/harness/node/rpcProxy.ts';
import {
  type Accepted,
  createX402Fetch,
  decodeHeader,
  makePayment,
  paymentHeader,
} from '../../tests/harness/node/x402.ts';
import { createRaces } from './races.ts';

export const WALLETS = 100;
/** SOL, gas and USDC of each attacking wallet: enough for one call at a time, but not to lend the deposit of its record. */
const [SOL, GAS, PURSE] = [100_000_000, 2_500_000n, PRICE + 10_000n];
/** Gas of the honest caller: it can lend all its deposits itself. */
const HONEST_GAS = 10_000_000_000;
/** Wallets that are prepared, or transactions that are read, at the same time. */
const IN_PARALLEL = 16;
/** An address may have so many payments on their way, or unpaid. */
const WALLETS_OF_ADDRESS = 10;
/** Longer than any refund waits, and than any record lives. */
const HOURS_SECONDS = 3 * 3_600;
const ACCOUNTS_AT_ONCE = 100;

export type Stage = Awaited<ReturnType<typeof startStage>>;

export interface Attacker {
  wallet: Keypair;
  signer: Signer;
  usdc: PublicKey;
  tank: PublicKey;
  /** Null for an x402 client. */
  apiKey: string | null;
  /** The IP address of its requests. */
  address: string;
}

/** Answers that an honest caller got beside an attack. */
export interface Beside {
  calls: number;
  refused: number;
  slowest_ms: number;
}

/** Runs this for each item, `atOnce` at a time. */
export async function each<Item, Result>(
  items: readonly Item[],
  run: (item: Item, at: number) => Promise<Result>,
  atOnce = items.length,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = items.entries();
  const work = async () => {
    for (const [at, item] of rest) results[at] = await run(item, at);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

export async function startStage(slotTimeMs: number) {
  const feePayer = Keypair.generate();
  const market = await startMarketplace({ slotTimeMs, feePayer });
  const { node, usdcMint } = market;
  const { connection } = node;
  const races = createRaces();
  const proxy = await startRpcProxy(node);
  proxy.onCall(races.rule);

  // The agents. The attacker's own never answers, or fails, as its tasks say.
  const signingKey = generateSigningKey();
  market.setBehaviour(({ execution_id }, _response, reply) => reply(goodAnswer(signingKey, execution_id, 'listed')));
  const ownAgent = await market.list({ name: 'own', endpoint: market.endpoint, signingKey });
  /** Runs before the attacker's agent fails, by the task. */
  const beforeFailing = new Map<string, () => Promise<unknown>>();
  market.setBehaviour(async ({ execution_id, task }, _response, reply) => {
    if (task === 'never') return;
    if (task === 'honest') return reply(goodAnswer(market.signingKey, execution_id, 'done'));
    await beforeFailing.get(task)?.();
    reply(failedAnswer(execution_id));
  });

  /** The relay under attack. The marketplace's other one has the indexer. */
  const startRelay = (settings: NodeJS.ProcessEnv = {}) =>
    market.startRelayProcess({
      WITHOUT_INDEXER: '1',
      SOLANA_RPC_URL: proxy.rpcUrl,
      SOLANA_WS_URL: proxy.wsUrl,
      SPONSOR: 'none',
      TRUST_PROXY: '1',
      ...settings,
    });
  let relay = await startRelay();

  const [caller, poor] = market.callers as [(typeof market.callers)[0], (typeof market.callers)[0]];
  await node.fundSol(findSpender(caller.wallet.publicKey), HONEST_GAS);
  await node.fundSol(findSpender(poor.wallet.publicKey), Number(GAS));
  const buyer = Keypair.generate();
  await market.mintTo(buyer.publicKey, 1_000_000_000n);
  const pay = await createX402Fetch(buyer, node.rpcUrl);
  const honest = {
    async byKey(apiKey = caller.apiKey) {
      return request(relay.url, `/v1/agents/${market.agentId}/execute`, { apiKey, body: { task: 'honest' } });
    },
    async byX402() {
      return pay(`${relay.url}/v1/x402/agents/${market.agentId}/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.1' },
        body: JSON.stringify({ task: 'honest' }),
      });
    },
  };
  /** Keeps what the attacker takes away from its wallets. */
  const sink = Keypair.generate();
  const sinkUsdc = await market.mintTo(sink.publicKey, 1n);

  let sets = 0;

  async function newWallet(at: number, hasKey: boolean): Promise<Attacker> {
    const wallet = Keypair.generate();
    const signer = keypairSigner(wallet);
    await node.fundSol(wallet.publicKey, SOL);
    const usdc = await market.mintTo(wallet.publicKey, PURSE);
    const key = { wallet: signer, name: 'attack', limits: market.limits, gas: GAS };
    const apiKey = hasKey ? (await createKey(market.marketplace, key)).api_key : null;
    const address = `198.18.${sets}.${Math.floor(at / WALLETS_OF_ADDRESS)}`;
    return { wallet, signer, usdc, tank: findSpender(wallet.publicKey), apiKey, address };
  }

  const send = ({ signer }: Attacker, ...instructions: TransactionInstruction[]) =>
    sendTransaction(connection, instructions, signer);
  const moveAway = ({ usdc, wallet }: Attacker, amount: bigint) =>
    createTransferInstruction(usdc, sinkUsdc, wallet.publicKey, amount);

  /** Lamports and base units of USDC that the attacker has. Refunds that it can claim are its own too. */
  async function holdings(attackers: Attacker[]) {
    const own = attackers.flatMap(({ wallet, tank }) => [wallet.publicKey, tank]);
    const tokens = [...attackers.map(({ usdc }) => usdc), sinkUsdc];
    let [lamports, usdc] = [0, await market.amountOf(findUnclaimed())];
    for (const addresses of chunks([...own, ...tokens], ACCOUNTS_AT_ONCE)) {
      const accounts = await connection.getMultipleAccountsInfo(addresses, 'finalized');
      for (const [at, account] of accounts.entries()) {
        lamports += account?.lamports ?? 0;
        if (account && tokens.includes(addresses[at]!)) usdc += AccountLayout.decode(account.data).amount;
      }
    }
    return { lamports, usdc };
  }

  /** Accounts of the attacker's calls. */
  async function accountsOf(attackers: Attacker[]): Promise<PublicKey[]> {
    const wallets = attackers.map(({ wallet }) => `'${wallet.publicKey.toBase58()}'`).join();
    const calls = `SELECT execution_id, deposit FROM executions WHERE wallet IN (${wallets})`;
    const rows: { execution_id: string; deposit: string | null }[] = await market.query('ledger', calls);
    return rows.flatMap(({ execution_id, deposit }) => {
      const record = findExecution(parseUuid(execution_id)!);
      if (deposit === null) return [record, findEscrow(record)];
      const address = new PublicKey(deposit);
      return [record, findEscrow(record), address, findTokenAccount(address, usdcMint)];
    });
  }

  const newestOf = async (payer: PublicKey) =>
    (await connection.getSignaturesForAddress(payer, { limit: 1 }, 'finalized'))[0]?.signature;
  const payers = [market.authority.publicKey, feePayer.publicKey];

  /** Lamports that the operator's keys have lost since then, in the transactions that name one of these accounts. */
  async function lostSince(newest: (string | undefined)[], accounts: PublicKey[]): Promise<number> {
    const names = new Set(accounts.map((account) => account.toBase58()));
    const signatures = new Set<string>();
    for (const [at, payer] of payers.entries()) {
      for (let before: string | undefined; ; ) {
        const range = { ...(newest[at] && { until: newest[at] }), ...(before && { before }) };
        const page = await connection.getSignaturesForAddress(payer, range, 'finalized');
        for (const { signature } of page) signatures.add(signature);
        before = page.at(-1)?.signature;
        if (!before) break;
      }
    }
    const losses = await each(
      [...signatures],
      async (signature) => {
        const { transaction, meta } = (await readTransaction(connection, signature))!;
        const keys = transaction.message.staticAccountKeys.map((key) => key.toBase58());
        if (!keys.some((key) => names.has(key))) return 0;
        const changes = payers.map((payer) => {
          const at = keys.indexOf(payer.toBase58());
          return at < 0 ? 0 : meta!.preBalances[at]! - meta!.postBalances[at]!;
        });
        return changes.reduce((sum, change) => sum + change, 0);
      },
      IN_PARALLEL,
    );
    return losses.reduce((sum, loss) => sum + loss, 0);
  }

  return {
    market,
    races,
    beforeFailing,
    ownAgent,
    honest,
    poor,
    send,
    moveAway,
    /** Wallets with SOL and USDC, ten of them at each address; with keys and gas if they call by key. */
    async wallets(hasKeys: boolean): Promise<Attacker[]> {
      sets += 1;
      const numbers = Array.from({ length: WALLETS }, (_, at) => at);
      return each(numbers, (at) => newWallet(at, hasKeys), IN_PARALLEL);
    },
    close: ({ usdc, wallet }: Attacker) => createCloseAccountInstruction(usdc, wallet.publicKey, wallet.publicKey),
    execute: ({ apiKey }: Attacker, agent: string, body: object): Promise<Answer> =>
      request(relay.url, `/v1/agents/${agent}/execute`, { apiKey: apiKey!, body }),
    /** A call that is paid as x402's client pays it. `quoted` runs before the payment is sent. */
    async buy({ wallet, address }: Attacker, agent: string, body: object, quoted?: (accepted: Accepted) => void) {
      const path = `/v1/x402/agents/${agent}/execute`;
      const from = { 'x-forwarded-for': address };
      const quote = await request(relay.url, path, { body, headers: from });
      if (quote.status !== 402) return quote;
      const accepted = decodeHeader(quote, 'payment-required').accepts[0];
      quoted?.(accepted);
      const payment = paymentHeader(accepted, await makePayment(node, accepted, wallet));
      return request(relay.url, path, { body, headers: { ...from, 'payment-signature': payment } });
    },
    /** Replaces the relay by one with these settings. */
    async restart(settings: NodeJS.ProcessEnv): Promise<void> {
      await relay.kill();
      relay = await startRelay(settings);
    },
    pass: async (seconds: number) => node.timeTravel((await node.now()) + seconds),
    /** Calls of honest callers, one after the other, until `run` has ended. Adds what they got to `seen`. */
    async beside(seen: { byKey: Beside; byX402: Beside }, run: () => Promise<unknown>): Promise<void> {
      let isOver = false;
      const callOn = async (who: keyof typeof honest) => {
        while (!isOver) {
          const begun = performance.now();
          const { status } = await honest[who]();
          const one = seen[who];
          one.calls += 1;
          if (status !== 200) one.refused += 1;
          one.slowest_ms = Math.max(one.slowest_ms, performance.now() - begun);
        }
      };
      const calls = Promise.all([callOn('byKey'), callOn('byX402')]);
      await run().finally(() => {
        isOver = true;
      });
      await calls;
    },
    /** Runs an attack of these wallets, and then hours until nothing of it is left. Returns what both sides have lost. */
    async lossesIn(attackers: Attacker[], run: () => Promise<unknown>) {
      const newest = await Promise.all(payers.map(newestOf));
      const before = await holdings(attackers);
      await run();
      const accounts = await accountsOf(attackers);
      await node.timeTravel((await node.now()) + HOURS_SECONDS);
      await until('nothing of the attack is left', async () => {
        for (const some of chunks(accounts, ACCOUNTS_AT_ONCE)) {
          const found = await connection.getMultipleAccountsInfo(some, 'finalized');
          if (found.some((account) => account !== null)) return false;
        }
        return true;
      });
      const after = await holdings(attackers);
      const named = attackers.flatMap(({ wallet, usdc, tank }) => [wallet.publicKey, usdc, tank]);
      return {
        attacker_lamports: before.lamports - after.lamports,
        attacker_usdc: Number(before.usdc - after.usdc),
        operator_lamports: await lostSince(newest, [...named, ...accounts]),
      };
    },
    async stop(): Promise<void> {
      await relay.kill();
      await proxy.close();
      await market.stop();
    },
  };
}
