/**
 * Compares paid calls with x402's `exact` scheme on the same local node: time, rate, fees, and who loses money at
 * faults. Each figure uses a fresh node with the same history, because a node gets slower with every transaction.
 */
import { toTable } from './figures.ts';
import type { Part } from './part.ts';
import { atOnce, type Load, oneByOne, type Speed } from './peers/load.ts';
import { ourLosses, startDoor, startOurs } from './peers/ours.ts';
import { CASES, type Loss, PRICE, type Side } from './peers/side.ts';
import { startX402, x402Losses } from './peers/x402.ts';

const SLOT_MS = 200;
/** For the failure cases, which are not timed. */
const FAST_SLOT_MS = 50;
const WARM_UP = 5;
/** The relay's default. */
const SERVICE_FEE = 5_000;
const CALLERS = [16, 64] as const;

interface PeerOptions {
  /** Duration of each load. */
  seconds: number;
  /** Number of sequential calls. */
  sequential: number;
  report: (line: string) => void;
}

interface PeerFigures {
  one_by_one: Speed;
  at_once: Record<number, Load>;
  /** Lamports per call: the fee is spent; the rent is locked until the record is closed. */
  fee: number;
  rent: number;
  losses: Loss[];
}

const SIDES = {
  ours: { start: startOurs, losses: async () => withSide(startOurs, FAST_SLOT_MS, ourLosses) },
  door: { start: startDoor, losses: async () => withSide(startDoor, FAST_SLOT_MS, ourLosses) },
  x402: { start: startX402, losses: async () => withSide(startX402, FAST_SLOT_MS, x402Losses) },
};

export const peersPart: Part = {
  about: 'our paid calls compared with the x402 scheme exact',
  onRequest: true,
  async run({ quick, report }) {
    const options = { seconds: quick ? 4 : 10, sequential: quick ? 10 : 40, report };
    const x402 = await benchSide('x402', options);
    const door = await benchSide('door', options);
    const ours = await benchSide('ours', options);
    return { figures: { x402, door, ours }, table: describe({ x402, door, ours }) };
  },
};

async function withSide<One extends Side, Result>(
  start: (slotMs: number) => Promise<One>,
  slotMs: number,
  run: (side: One) => Promise<Result>,
): Promise<Result> {
  const side = await start(slotMs);
  try {
    return await run(side);
  } finally {
    await side.stop();
  }
}

async function benchSide(name: keyof typeof SIDES, { seconds, sequential, report }: PeerOptions): Promise<PeerFigures> {
  const { start, losses } = SIDES[name];
  const fresh = <Result>(run: (side: Side) => Promise<Result>) =>
    withSide<Side, Result>(start, SLOT_MS, async (side) => {
      for (let i = 0; i < WARM_UP; i += 1) await side.call();
      return run(side);
    });
  report(`${name}: one by one`);
  const alone = await fresh(async (side) => {
    const [lamports, fees] = [await side.feePayerLamports(), await side.fees()];
    const speed = await oneByOne(side.call, sequential, SLOT_MS);
    const fee = ((await side.fees()) - fees) / sequential;
    const gone = (lamports - (await side.feePayerLamports())) / sequential;
    return { speed, fee, rent: gone - fee };
  });
  const at_once: Record<number, Load> = {};
  for (const callers of CALLERS) {
    report(`${name}: ${callers} at once`);
    at_once[callers] = await fresh((side) => atOnce(side.call, callers, seconds));
  }
  report(`${name}: failures`);
  return { one_by_one: alone.speed, at_once, fee: alone.fee, rent: alone.rent, losses: await losses() };
}

/** The party that did not get its part of the deal, an answer for a price. Network fees are not counted. */
function loserOf({ name, client, ran, payer, creator }: Loss): string {
  const answers = client.split(/\W+/).filter((word) => word === '200').length;
  const paid = Math.floor(-payer / Number(PRICE));
  const hasFailed = name === CASES.fails || name === CASES.failsUpfront;
  if (paid > answers) return `payer: paid ${paid}, answered ${answers}`;
  if (!hasFailed && creator === 0) return 'creator: worked for nothing';
  if (!hasFailed && ran > paid) return `creator: worked ${ran}, paid ${paid}`;
  if (hasFailed && payer < 0) return 'payer: the service fee';
  return 'nobody';
}

/** Column heads of the table. */
const NAMES: Record<keyof typeof SIDES, string> = {
  x402: 'x402 exact',
  door: 'ours, by an x402 client',
  ours: 'ours, with a key',
};

function describe(figures: Record<keyof typeof SIDES, PeerFigures>): string {
  const ms = (value: number) => Math.round(value);
  const rows = (side: PeerFigures) => [
    ms(side.one_by_one.median_ms),
    ms(side.one_by_one.p90_ms),
    ...CALLERS.flatMap((callers) => {
      const load = side.at_once[callers]!;
      return [load.per_second.toFixed(1), ms(load.median_ms), ms(load.p90_ms), load.failed];
    }),
    ms(side.fee),
    ms(side.rent),
  ];
  const names = [
    'one by one, median ms',
    'one by one, p90 ms',
    ...CALLERS.flatMap((callers) =>
      ['calls per second', 'median ms', 'p90 ms', 'not served'].map((figure) => `${callers} at once, ${figure}`),
    ),
    'network fees of a call, lamports',
    'refundable deposit of a call until its record is archived, lamports',
  ];
  const sides = (['x402', 'door', 'ours'] as const).map((side) => [NAMES[side], figures[side]] as const);
  const columns = sides.map(([, side]) => rows(side));
  const speed = toTable(
    ['a paid call', ...sides.map(([name]) => name)],
    names.map((name, at) => [name, ...columns.map((column) => column[at]!)]),
  );
  const losses = toTable(
    ['what happens', 'with', 'client told', 'work done', 'payer', 'creator', 'lamports', 'who loses'],
    figures.x402.losses.flatMap((_, at) =>
      sides.map(([who, { losses }]) => {
        const loss = losses[at]!;
        const { name, client, ran, payer, creator, lamports } = loss;
        return [name, who, client, ran, payer, creator, lamports, loserOf(loss)];
      }),
    ),
  );
  return `${speed}\n\nUnits of USDC; a call costs 10000, and ${SERVICE_FEE} more by an x402 client.\n\n${losses}`;
}
