/**
 * Measures a paid call on Agave's own validator with Alpenglow and `npm start`: its latency beside bare transfers at the
 * same time, calls per second, compute units and lamports. Skipped if there is no validator.
 */
import { Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import { createMockUsdc, mintMockUsdc, sendAndConfirm } from '../app/local/network.ts';
import { findEscrow } from '../app/sdk/program/program.ts';
import { readTransaction } from '../app/sdk/program/transaction.ts';
import { until } from '../tests/harness/edge/until.ts';
import { findValidator, NO_VALIDATOR } from '../tests/harness/node/validator.ts';
import { cleanUp, newDirectory } from '../tests/local/start.ts';
import { startStage } from '../tests/validator/stage.ts';
import { quantile, toTable } from './figures.ts';
import type { Part } from './part.ts';
import { createTransfer, many } from './relay.ts';

const SLOT_MS = 200;
const WARM_UP = 10;

interface Spread {
  p50: number;
  p90: number;
}

interface Step {
  compute_units: number;
  fee_lamports: number;
}

interface ValidatorFigures {
  call_ms: Spread;
  transfer_ms: Spread;
  two_transfers_ms: Spread;
  per_second: Record<string, number>;
  steps: Record<'open' | 'settle' | 'refund', Step>;
  /** Rent lent by an open call, and by an ended one until its record is archived. */
  lent_lamports: { open: number; ended: number };
  failures: number;
}

const spread = (values: number[]): Spread => ({ p50: quantile(values, 0.5), p90: quantile(values, 0.9) });

async function benchValidator(count: number, report: (line: string) => void): Promise<ValidatorFigures | null> {
  if (findValidator() === null) {
    report(NO_VALIDATOR);
    return null;
  }
  const stage = await startStage(newDirectory());
  const { identities, validator, visit } = stage;
  const { connection, payer: rich } = validator;
  let failures = 0;
  try {
    const payer = Keypair.generate();
    const gifts = [payer, identities.relayAuthority].map(({ publicKey: toPubkey }) =>
      SystemProgram.transfer({ fromPubkey: rich.publicKey, toPubkey, lamports: 100e9 }),
    );
    await sendAndConfirm(connection, gifts, [rich]);
    const { mintAuthority, usdcMint } = identities;
    const mint = await createMockUsdc(connection, { payer, mint: usdcMint, mintAuthority: mintAuthority.publicKey });
    const source = await mintMockUsdc(connection, {
      ...{ payer, mintAuthority, mint },
      ...{ owner: payer.publicKey, amount: 1_000_000_000n },
    });
    const transfer = createTransfer(connection, payer, source, visit().usdcOf(visit().demo.callers[0]!.wallet));

    async function call(): Promise<number> {
      const started = performance.now();
      const { status, body } = await visit().execute('sandbox-echo', { task: 'bench' });
      if (status !== 200) {
        failures += 1;
        report(`a call was answered ${status}: ${JSON.stringify(body)}`);
      }
      return performance.now() - started;
    }
    /** A random pause, so that calls are not in step with the slots. */
    const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * SLOT_MS));

    report(`the second epoch, in which slots take ${SLOT_MS} ms, and ${WARM_UP} calls`);
    await until('it is there', async () => (await connection.getEpochInfo()).epoch > 0);
    for (let at = 0; at < WARM_UP; at += 1) await call();
    const [calls, single, pairs]: [number[], number[], number[]] = [[], [], []];
    for (let at = 0; at < count; at += 1) {
      await pause();
      calls.push(await call());
      await pause();
      single.push(await transfer(3 * at));
      await pause();
      pairs.push((await transfer(3 * at + 1)) + (await transfer(3 * at + 2)));
    }
    const perSecond: Record<string, number> = {};
    for (const callers of [16, 64]) {
      report(`${callers} callers`);
      const started = performance.now();
      await many(call, callers, count * 4);
      perSecond[callers] = (count * 4) / ((performance.now() - started) / 1_000);
    }
    return {
      call_ms: spread(calls),
      transfer_ms: spread(single),
      two_transfers_ms: spread(pairs),
      per_second: perSecond,
      ...(await measureCosts(stage)),
      failures,
    };
  } finally {
    await stage.end('SIGTERM');
    await stage.stop();
    cleanUp();
  }
}

/** Reads the costs of one settled and one refunded call from their transactions. */
async function measureCosts({ visit, validator: { connection } }: Awaited<ReturnType<typeof startStage>>) {
  const { execute, recordOf, lamports } = visit();
  async function stepsOf(executionId: string): Promise<Step[]> {
    const found = await connection.getSignaturesForAddress(recordOf(executionId), {}, 'finalized');
    return Promise.all(
      found.reverse().map(async ({ signature }) => {
        const { meta } = (await readTransaction(connection, signature))!;
        return { compute_units: meta!.computeUnitsConsumed!, fee_lamports: meta!.fee };
      }),
    );
  }
  const slow = (await execute('sandbox-slow', { task: 'lent', parameters: { seconds: 5 }, async: true })).body;
  const held = async (address: PublicKey) => Number(await lamports(address));
  const record = recordOf(slow.execution_id);
  const open = (await held(record)) + (await held(findEscrow(record)));
  const paid = (await execute('sandbox-echo', { task: 'bench' })).body;
  const refunded = (await execute('sandbox-fails', { task: 'bench' })).body.error;
  const [opening, settle] = await stepsOf(paid.execution_id);
  const [, refund] = await stepsOf(refunded.execution_id);
  return {
    steps: { open: opening!, settle: settle!, refund: refund! },
    lent_lamports: { open, ended: await held(recordOf(paid.execution_id)) },
  };
}

const round = (value: number): number => Math.round(value * 10) / 10;
const shown = ({ p50, p90 }: Spread): string => `${Math.round(p50)} / ${Math.round(p90)}`;

function describeValidator(figures: ValidatorFigures): string {
  const { call_ms, transfer_ms, two_transfers_ms, per_second, steps, lent_lamports, failures } = figures;
  return toTable(
    ["npm start on Agave's own validator", 'value'],
    [
      ['bare confirmed SPL transfer, ms p50 / p90', shown(transfer_ms)],
      ['two of them, one after the other', shown(two_transfers_ms)],
      ['synchronous paid call', shown(call_ms)],
      ['call : two transfers', round(call_ms.p50 / two_transfers_ms.p50)],
      ...Object.entries(per_second).map(([callers, rate]) => [`calls per second, ${callers} at once`, round(rate)]),
      ...Object.entries(steps).map(([step, of]) => [
        `${step}, CU / lamports`,
        `${of.compute_units} / ${of.fee_lamports}`,
      ]),
      ['lamports lent while a call is open / until it is archived', `${lent_lamports.open} / ${lent_lamports.ended}`],
      ['calls that failed', failures],
    ],
  );
}

export const validatorPart: Part = {
  about: "a paid call on Agave's own validator",
  onRequest: true,
  async run({ quick, report }) {
    const figures = await benchValidator(quick ? 20 : 100, report);
    return { figures, table: figures ? describeValidator(figures) : NO_VALIDATOR };
  },
};
