/**
 * Compares paid calls with x402's `exact` scheme on the same local node: latency, rate, network fees and processor time.
 * Each figure uses a fresh node with the same history, because a node gets slower with every transaction.
 */
import { atOnce, type Load, oneByOne } from './calls/load.ts';
import { startOurs, startOursByX402 } from './calls/ours.ts';
import type { Side } from './calls/side.ts';
import { startX402 } from './calls/x402.ts';
import { median, round, spread, toTable } from './figures.ts';
import type { Part } from './part.ts';

const WARM_UP = 5;
/** Numbers of parallel callers. */
const CALLERS = [1, 16, 64];

const SIDES: Record<string, (slotMs: number) => Promise<Side>> = {
  'x402 exact': startX402,
  'ours, by an x402 client': startOursByX402,
  'ours, with a key': startOurs,
};

interface SideFigures {
  at_once: Record<number, Load & { processor_ms: number }>;
  /** Lamports per call: the fees are spent; the rent comes back when the record is archived. */
  fee_lamports: number;
  rent_lamports: number;
}

export const callsPart: Part = {
  about: 'paid calls beside the x402 scheme exact: latency, rate, network fees, processor time',
  async run({ quick, slotMs, report }) {
    const figures: Record<string, SideFigures> = {};
    for (const [name, start] of Object.entries(SIDES)) {
      const startSide = () => start(slotMs);
      figures[name] = await measureSide(
        startSide,
        { seconds: quick ? 4 : 15, calls: quick ? 10 : 60, slotMs },
        (line) => report(`calls: ${name}, ${line}`),
      );
    }
    return { figures, table: describe(figures) };
  },
};

interface Amount {
  /** Duration of a load of several callers. */
  seconds: number;
  /** Number of calls of a single caller. */
  calls: number;
  slotMs: number;
}

async function measureSide(
  start: () => Promise<Side>,
  { seconds, calls, slotMs }: Amount,
  report: (line: string) => void,
): Promise<SideFigures> {
  const at_once: SideFigures['at_once'] = {};
  const fees: number[] = [];
  let rent = 0;
  for (const callers of CALLERS) {
    report(`${callers} at once`);
    const side = await start();
    try {
      for (let i = 0; i < WARM_UP; i += 1) await side.call();
      const before = await side.spent();
      const load = await (callers === 1 ? oneByOne(side.call, calls, slotMs) : atOnce(side.call, callers, seconds));
      const after = await side.spent();
      fees.push((after.lamports - before.lamports) / load.served);
      at_once[callers] = { ...load, processor_ms: (after.processorMs - before.processorMs) / load.served };
      rent = side.rent;
    } finally {
      await side.stop();
    }
  }
  return { at_once, fee_lamports: median(fees), rent_lamports: rent };
}

function describe(figures: Record<string, SideFigures>): string {
  const sides = Object.values(figures);
  const row = (name: string, cell: (side: SideFigures) => string | number) => [name, ...sides.map(cell)];
  const loads = CALLERS.flatMap((callers) => {
    const of = (cell: (load: SideFigures['at_once'][number]) => string | number) => (side: SideFigures) =>
      cell(side.at_once[callers]!);
    return [
      row(
        `${callers} at once, ms p50 / p99`,
        of(({ ms }) => spread(ms)),
      ),
      row(
        'calls per second',
        of(({ per_second }) => round(per_second)),
      ),
      row(
        'processor, ms a call',
        of(({ processor_ms }) => round(processor_ms)),
      ),
      row(
        'not served',
        of(({ failed }) => failed),
      ),
    ];
  });
  return toTable(
    ['a paid call', ...Object.keys(figures)],
    [
      ...loads,
      row('network fees, lamports a call', ({ fee_lamports }) => Math.round(fee_lamports)),
      row('refundable deposit until its record is archived, lamports', ({ rent_lamports }) => rent_lamports),
    ],
  );
}
