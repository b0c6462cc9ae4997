/**
 * Compares every instruction's event with the accounts before and after it: a table built from events alone must equal
 * the accounts. `reported.ts` has the comparison, which the fuzz makes too.
 */
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import { toCamel } from '../../app/sdk/program/idlValues.ts';
import * as program from '../../app/sdk/program/program.ts';
import { PRICE, TIERS, USDC, type World } from '../harness/vm/world.ts';
import * as acts from './exploits/acts.ts';
import * as moments from './generated/moments.ts';
import { EARLY, keyring, type Market, signersOf, stage } from './generated/parties.ts';
import { proposed, SCENARIOS, type Scenario } from './generated/scenarios.ts';
import { compareReported, type Fields, stateIn } from './reported.ts';

/** Other states and arguments in which an instruction's event has other fields. */
const VARIANTS: [string, Scenario][] = [
  [
    'update_config',
    async (w) => program.updateConfig({ admin: w.admin.publicKey, tiers: TIERS.slice(0, 1), exposureMultiple: 3 }),
  ],
  [
    'apply_change',
    async (w, side) => {
      const guardian = side.creator.publicKey;
      const { changeId, payer } = await proposed(w, side, { guardian });
      return program.applyChange({ changeId, rentSponsor: payer });
    },
  ],
  [
    'set_creator_verified',
    async (w, side) => {
      await w.must([await SCENARIOS.set_creator_verified!(w, side)], [w.admin, side.payer]);
      const people = { admin: w.admin.publicKey, payer: side.payer.publicKey, creator: side.creator.publicKey };
      return program.setCreatorVerified({ ...people, verified: false });
    },
  ],
  ['resolve_dispute', async (w, side) => moments.answer(w, await moments.disputed(w, side), side, false)],
  [
    'resolve_dispute',
    async (w, side) => {
      const execution = await moments.disputed(w, side);
      await acts.freeze(w, w.wallet(side.caller));
      return moments.answer(w, execution, side, true);
    },
  ],
];

/** What the accounts of the program do not show. */
const AMOUNTS: Record<string, Fields> = {
  claim_dispute_award: { amount: PRICE },
  sweep_forfeits: { amount: moments.SLASH - PRICE, vaultClosed: false },
  top_up_collateral: { amount: USDC / 2n },
};

describe('events report the state of accounts:', () => {
  for (const [name, scenario] of [...Object.entries(SCENARIOS), ...VARIANTS]) {
    it(name, async () => {
      const market = await stage(name);
      const { w, mine } = market;
      if (!EARLY.includes(name)) await busy(market);
      const instruction = await scenario(w, mine);
      const before = await statesOf(w, instruction);
      const { events } = await w.must([instruction], signersOf(instruction, keyring(market)));
      expect(events, 'one event').to.have.length(1);
      const { data: event, name: eventName } = events[0]!;
      expect(event).to.include(AMOUNTS[name] ?? {});
      const names = acts.accountNames(instruction).map(toCamel);
      for (const [place, { pubkey, isWritable }] of instruction.keys.entries()) {
        const told = (event as Fields)[names[place]!];
        // An event names the key itself, not its account, and a moved refund's own destination.
        const isOther = names[place] === 'signingKey' || (names[place] === 'destination' && 'unclaimed' in event);
        if (!isOther && told instanceof PublicKey) expect(told.toBase58(), names[place]).to.equal(pubkey.toBase58());
        const was = before[place];
        const is = isWritable ? await stateOf(w, pubkey) : null;
        if (is) compareReported(event, eventName, was ?? null, is);
      }
    });
  }
});

/** Time has passed since the listing and the grant, the listing has exposure, and the grant has spent. */
async function busy({ w, mine }: Market): Promise<void> {
  await w.must([program.updateConfig({ admin: w.admin.publicKey, exposureMultiple: 10 })], [w.admin]);
  await moments.openWithGrant(w, mine);
  await w.vm.setClock(w.vm.now + 100n);
}

/** The accounts of the program that an instruction names. */
const statesOf = (w: World, { keys }: TransactionInstruction) =>
  Promise.all(keys.map(({ pubkey }) => stateOf(w, pubkey)));

const stateOf = async (w: World, address: PublicKey) => stateIn(await w.vm.getAccount(address));
