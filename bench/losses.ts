/**
 * Measures what attacks by a hundred wallets cost both sides: calls that fail under the relay, money that moves away, and
 * deposits that are borrowed. Honest callers call beside each attack. SECURITY.md computes the same figures.
 */
import { atMost, type Goal, round, toTable } from './figures.ts';
import { ATTACKS } from './losses/attacks.ts';
import { type Beside, startStage, WALLETS } from './losses/stage.ts';
import type { Part, Settings } from './part.ts';

/** At 100 USDC a SOL, as the relay computes its service fee by default. */
const LAMPORTS_PER_UNIT = 10;

interface AttackLosses {
  name: string;
  attacker_lamports: number;
  /** Base units; they are the operator's. */
  attacker_usdc: number;
  operator_lamports: number;
  /** By SECURITY.md. */
  operator_most_lamports: number;
  by_key: Beside;
  by_x402: Beside;
  /** Other callers that were refused afterwards. */
  refused: string | undefined;
  seconds: number;
}

export const lossesPart: Part = {
  about: `what attacks by ${WALLETS} wallets cost their attacker and the operator, and who else is refused`,
  onRequest: true,
  async run(settings) {
    const figures = await benchLosses(settings);
    return { figures, table: describe(figures), goals: figures.flatMap(goalsOf) };
  },
};

const none = (): Beside => ({ calls: 0, refused: 0, slowest_ms: 0 });

async function benchLosses({ slotMs, report }: Settings): Promise<AttackLosses[]> {
  const stage = await startStage(slotMs);
  try {
    await stage.honest.byKey();
    await stage.honest.byX402();
    const measured: AttackLosses[] = [];
    for (const { name, most, hasKeys, run } of ATTACKS) {
      report(`losses: ${name}`);
      const begun = performance.now();
      const attackers = await stage.wallets(hasKeys);
      const seen = { byKey: none(), byX402: none() };
      let refused: string | undefined;
      const losses = await stage.lossesIn(attackers, async () => {
        refused = await run(stage, attackers, seen);
      });
      const seconds = (performance.now() - begun) / 1_000;
      const beside = { by_key: seen.byKey, by_x402: seen.byX402 };
      measured.push({ name, ...losses, operator_most_lamports: most * WALLETS, ...beside, refused, seconds });
      report(JSON.stringify(measured.at(-1)));
    }
    return measured;
  } finally {
    await stage.stop();
  }
}

function goalsOf({ name, attacker_usdc, operator_lamports, operator_most_lamports, by_key }: AttackLosses): Goal[] {
  const loss = operator_lamports - attacker_usdc * LAMPORTS_PER_UNIT;
  return [
    atMost(`${name}: the operator loses, lamports, less the service fees`, operator_most_lamports, loss),
    atMost(`${name}: refused calls of an honest wallet with gas`, 0, by_key.refused),
  ];
}

function describe(measured: AttackLosses[]): string {
  const callsOf = ({ calls, refused }: Beside) => `${refused} of ${calls}`;
  return toTable(
    [
      `${WALLETS} wallets`,
      'the attacker spends, lamports',
      'and base units of USDC',
      'the operator loses, lamports',
      'refused: calls by key',
      'by x402',
      'others',
      'slowest call by key, s',
      'seconds',
    ],
    measured.map((one) => [
      one.name,
      one.attacker_lamports,
      one.attacker_usdc,
      one.operator_lamports,
      callsOf(one.by_key),
      callsOf(one.by_x402),
      one.refused ?? 'nobody',
      round(one.by_key.slowest_ms / 1_000),
      Math.round(one.seconds),
    ]),
  );
}
