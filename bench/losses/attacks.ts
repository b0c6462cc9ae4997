/** The attacks of SECURITY.md by which callers can cost the operator money, each by a hundred wallets. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token';
import { withdrawGas } from '../../app/sdk/program/grantInstructions.ts';
import { ALL_GAS } from '../../app/sdk/program/program.ts';
import { parseUuid } from '../../app/sdk/receipt/receipt.ts';
import { refund } from '../../app/sdk/wallet/executions.ts';
import { until } from '../../tests/harness/edge/until.ts';
import { type Answer, PRICE } from '../../tests/harness/node/marketplace.ts';
import { readRents } from '../../tests/harness/node/purses.ts';
import type { Accepted } from '../../tests/harness/node/x402.ts';
import { type Attacker, type Beside, each, type Stage, WALLETS } from './stage.ts';

export interface Attack {
  name: string;
  /** What the operator loses for each wallet by SECURITY.md, lamports. */
  most: number;
  /** True if its wallets call with keys; otherwise they are x402 clients. */
  hasKeys: boolean;
  /** Resolves with the other callers that are refused after it, if there are any. */
  run(stage: Stage, attackers: Attacker[], seen: { byKey: Beside; byX402: Beside }): Promise<string | undefined>;
}

/** Time after which anyone can refund a call of the default timeout, with some minutes more. */
const REFUNDABLE_SECONDS = 1_200;
/** Calls of x402 clients at the same time. A payment that waits longer for its turn than its blockhash lives expires. */
const BUYS = 24;
/** What a wallet holds while its one call is in progress, base units. */
const REST = 10_000n;

/** Repeats a call until the relay has room for it. */
async function begun(call: () => Promise<Answer>): Promise<Answer> {
  for (let left = 5; ; left -= 1) {
    const answer = await call();
    if (answer.status !== 503) return answer;
    if (left === 0) throw new Error(`the attack is refused: ${answer.text}`);
    await sleep(1_000 * Number(answer.headers.get('retry-after') ?? 1));
  }
}

/** Calls again if the relay had room for it. */
async function twice(call: () => Promise<Answer>): Promise<void> {
  if ((await call()).status !== 503) await call();
}

/** The wallet takes all its USDC out of the account, and closes it. */
const empty = (stage: Stage, attacker: Attacker) =>
  stage.send(attacker, stage.moveAway(attacker, REST), stage.close(attacker));

/** A call of each wallet to the attacker's own agent, which fails. `spoil` registers what happens to the refund. */
function failAll(stage: Stage, attackers: Attacker[], spoil: (attacker: Attacker, task: string) => void) {
  return each(attackers, (attacker) => {
    const task = `fails for ${attacker.usdc}`;
    spoil(attacker, task);
    return begun(() => stage.execute(attacker, stage.ownAgent, { task }));
  });
}

const closedBefore = (stage: Stage) => (attacker: Attacker, task: string) =>
  void stage.beforeFailing.set(task, () => empty(stage, attacker));

/** The refusal of another caller, if it is one, with the wait that it names. */
function refusalOf(who: string, { status, headers }: Pick<Answer, 'status' | 'headers'>): string | undefined {
  return status === 200 ? undefined : `${who}: ${status}, for ${headers.get('retry-after')} s`;
}

/** Lets keys, or x402 clients, borrow the deposits of so many records, once most of what was lent before is back. */
async function lendFor(stage: Stage, records: number): Promise<void> {
  const { record } = await readRents(stage.market);
  const limit = (record * BigInt(records) * 4n) / 3n + 1n;
  const sum = 'SELECT CAST(coalesce(sum(lamports), 0) AS BIGINT) AS lamports FROM lent_sums';
  await until('the deposits are back', async () => {
    return (await stage.market.query('ledger', sum))[0].lamports < limit / 10n;
  });
  await stage.restart({ LENT_LAMPORTS: String(limit) });
}

const NEVER = { task: 'never', timeout_seconds: 1 };

export const ATTACKS: Attack[] = [
  {
    name: 'borrowing all that keys may have, by an agent that never answers',
    most: 0,
    hasKeys: true,
    async run(stage, attackers, seen) {
      await lendFor(stage, WALLETS);
      const call = (attacker: Attacker) => stage.execute(attacker, stage.ownAgent, NEVER);
      await stage.beside(seen, () => each(attackers, (attacker) => twice(() => call(attacker))));
      return refusalOf('a caller by key with less gas', await stage.honest.byKey(stage.poor.apiKey));
    },
  },
  {
    name: 'borrowing all that x402 clients may have, by an agent that never answers',
    most: 0,
    hasKeys: false,
    async run(stage, attackers, seen) {
      await lendFor(stage, WALLETS);
      const buy = (attacker: Attacker) => stage.buy(attacker, stage.ownAgent, NEVER);
      await stage.beside(seen, () => each(attackers, (attacker) => twice(() => buy(attacker)), BUYS));
      return refusalOf('an x402 client', await stage.honest.byX402());
    },
  },
  {
    name: 'x402: the USDC moves before the relay signs the payment',
    most: 10_000,
    hasKeys: false,
    async run(stage, attackers, seen) {
      await stage.restart({});
      await stage.beside(seen, () =>
        each(
          attackers,
          (attacker) => {
            const away = () => stage.send(attacker, stage.moveAway(attacker, PRICE + REST));
            const race = ({ payTo }: Accepted) =>
              stage.races.before('prepare_deposit', { toBase58: () => payTo }, away);
            return begun(() => stage.buy(attacker, stage.market.agentId, { task: 'honest' }, race));
          },
          BUYS,
        ),
      );
      return undefined;
    },
  },
  {
    name: 'x402: the USDC moves after the relay has signed the payment',
    most: 20_001,
    hasKeys: false,
    async run(stage, attackers, seen) {
      await stage.beside(seen, () =>
        each(
          attackers,
          (attacker) => {
            const away = () => stage.send(attacker, stage.moveAway(attacker, PRICE + REST));
            stage.races.before('payment', attacker.usdc, away);
            return begun(() => stage.buy(attacker, stage.market.agentId, { task: 'honest' }));
          },
          BUYS,
        ),
      );
      return undefined;
    },
  },
  {
    name: 'keys: gas or USDC is taken away under the open',
    most: 5_000,
    hasKeys: true,
    async run(stage, attackers, seen) {
      await stage.beside(seen, () =>
        each(attackers, (attacker, at) => {
          const wallet = attacker.wallet.publicKey;
          const away =
            at % 2 === 0 ? withdrawGas({ wallet, lamports: ALL_GAS }) : stage.moveAway(attacker, PRICE + REST);
          stage.races.before('open_execution_with_grant', attacker.tank, () => stage.send(attacker, away));
          return begun(() => stage.execute(attacker, stage.market.agentId, { task: 'honest' }));
        }),
      );
      return undefined;
    },
  },
  {
    name: 'refunds: the account is closed before, and never opened again',
    most: 0,
    hasKeys: true,
    async run(stage, attackers, seen) {
      await stage.beside(seen, () => failAll(stage, attackers, closedBefore(stage)));
      return undefined;
    },
  },
  {
    name: 'refunds: the account is closed under the refund',
    most: 5_000,
    hasKeys: true,
    async run(stage, attackers, seen) {
      const closedUnder = (attacker: Attacker) =>
        stage.races.before('refund_execution', attacker.usdc, () => empty(stage, attacker));
      await stage.beside(seen, () => failAll(stage, attackers, closedUnder));
      return undefined;
    },
  },
  {
    name: 'refunds: the caller takes each over while the relay sends it',
    most: 5_450,
    hasKeys: true,
    async run(stage, attackers, seen) {
      const { market } = stage;
      await stage.beside(seen, () => failAll(stage, attackers, closedBefore(stage)));
      await stage.pass(REFUNDABLE_SECONDS);
      const byTask = await market.executionsByTask();
      const open = async (attacker: Attacker) => {
        const { wallet, usdc, signer } = attacker;
        const executionId = parseUuid(byTask.get(`fails for ${usdc}`)!)!;
        stage.races.before('refund_execution', usdc, () => refund(market.marketplace, { wallet: signer, executionId }));
        const owner = wallet.publicKey;
        await stage.send(
          attacker,
          createAssociatedTokenAccountIdempotentInstruction(owner, usdc, owner, market.usdcMint),
        );
      };
      await stage.beside(seen, async () => {
        await each(attackers, open);
        await until('the relay knows all of them', async () => {
          // It looks at waiting refunds at most once a minute.
          await market.query('ledger', "UPDATE executions SET rest_until_ms = 0 WHERE refund_state = 'waiting'");
          const waiting = "SELECT count(*) AS n FROM executions WHERE state = 'refunding'";
          return (await market.query('ledger', waiting))[0].n === 0n;
        });
      });
      return undefined;
    },
  },
];
