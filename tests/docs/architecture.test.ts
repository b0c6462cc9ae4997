/** ARCHITECTURE.md and docs/journal.md match the code: the modules in their order, and each state of the journal. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { standingOf } from '../../app/relay/execution/standing.ts';
import type { ExecutionState } from '../../app/relay/ledger/tables.ts';
import { blocksOf, proseOf, ROOT } from './markdown.ts';

const PAGE = 'ARCHITECTURE.md';
const JOURNAL = 'docs/journal.md';
const STATES: Record<ExecutionState, true> = {
  accepted: true,
  deposit_signed: true,
  deposit_confirmed: true,
  pay_signed: true,
  paid: true,
  returning: true,
  returned: true,
  open_signed: true,
  open_confirmed: true,
  dispatched: true,
  verified: true,
  refunding: true,
  settled: true,
  refunded: true,
  void: true,
  parked: true,
};

describe(PAGE, () => {
  it('draws the modules of relay and SDK in the order of .dependency-cruiser.mjs', async () => {
    const file = pathToFileURL(join(ROOT, '.dependency-cruiser.mjs')).href;
    const { forbidden } = ((await import(file)) as { default: { forbidden: { name: string }[] } }).default;
    const rules = forbidden.map(({ name }) => /^(.*)-imports-downwards$/.exec(name)?.[1] ?? '');
    const drawing = blocksOf(PAGE)[1]!.text.split('\n');
    for (const folder of ['app/relay', 'app/sdk']) {
      const rooms = rules.filter((room) => room.startsWith(`${folder}/`)).map((room) => room.slice(folder.length + 1));
      const first = drawing.findIndex((line) => line.includes(`${folder}/`));
      const lines = rooms.map((room) =>
        drawing.findIndex((line, index) => index >= first && new RegExp(`[ ,]${room}\\b`).test(line)),
      );
      expect(rooms.length).to.be.greaterThan(5);
      expect(lines.map((line, index) => (line < 0 ? rooms[index] : 'drawn'))).to.deep.equal(rooms.map(() => 'drawn'));
      expect(lines).to.deep.equal([...lines].sort((a, b) => a - b));
    }
  });
});

describe(JOURNAL, () => {
  it('has a row for each state of the journal, with the answer to a repeated request', () => {
    const rows = [...proseOf(JOURNAL).matchAll(/^\| `(\w+)` \|.*\| ([^|]+) \|$/gm)];
    const told = Object.fromEntries(rows.map(([, state, standing]) => [state, /^\w+/.exec(standing!)![0]]));
    const states = Object.keys(STATES) as ExecutionState[];
    const held = states.map((state) => [state, standingOf({ state, refund_state: null })]);
    expect(told).to.deep.equal(Object.fromEntries(held));
  });
});
