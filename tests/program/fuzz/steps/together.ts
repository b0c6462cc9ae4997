/** Two instructions in one transaction: the second finds what the first has made, closed or moved. */
import { SystemProgram } from '@solana/web3.js';
import { STRANGER } from '../cast.ts';
import type { Draw } from '../draw.ts';
import { type Address, key, type Ledger, text } from '../ledger.ts';
import type { Plan, Planner } from './plan.ts';

/** Plans one of these steps, and another for the state after it. If there is no other, only the first. */
export const together =
  (planners: readonly Planner[]): Planner =>
  (scene, draw) => {
    const first = draw.of(planners)(scene, draw);
    if (!first || 'happen' in first) return first;
    const after = scene.ledger.fork();
    if (after.attempt(first.rule) !== null) return first;
    const revived = draw.maybe(40) ? revive(scene.ledger, after, draw) : null;
    if (revived && after.attempt(revived.rule) !== null) return first;
    const second = draw.of(planners)({ ...scene, ledger: after }, draw);
    if (!second || 'happen' in second) return first;
    return [first, ...(revived ? [revived] : []), second].reduce(joined);
  };

const joined = (one: Plan, other: Plan): Plan => ({
  names: [...one.names, ...other.names],
  instructions: [...one.instructions, ...other.instructions],
  events: [...one.events, ...other.events],
  rule(ledger) {
    one.rule(ledger);
    other.rule(ledger);
  },
});

/** A stranger sends lamports to an address that the first instruction has closed. */
function revive(before: Ledger, after: Ledger, draw: Draw): Plan | null {
  const closed = [...before.entries()].flatMap(([address, entry]): Address[] =>
    (entry.state || entry.token) && after.get(address).lamports === 0n ? [address] : [],
  );
  if (closed.length === 0) return null;
  const [to, lamports] = [draw.of(closed), before.rent(0)];
  const transfer = { fromPubkey: STRANGER, toPubkey: key(to), lamports };
  return {
    names: ['revival'],
    instructions: [SystemProgram.transfer(transfer)],
    events: [],
    rule: (ledger) => ledger.moveLamports(text(STRANGER), to, lamports),
  };
}
