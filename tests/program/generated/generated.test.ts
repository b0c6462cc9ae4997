/**
 * Breaks each constraint that the IDL states: a signer that does not sign, a writable account that is read-only, and
 * another account at each place that an address, seeds or a relation determine. Each such transaction must fail. The
 * unchanged one must succeed after all of them, fit a packet with the budget instructions, and emit one event that
 * equals the accounts: a table can be built from events alone. What Anchor does beyond that for every account is
 * Anchor's to test.
 */
import { type AccountMeta, type Keypair, PACKET_DATA_SIZE, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import idlJson from '../../../app/sdk/program/idl/marketplace.json' with { type: 'json' };
import { toCamel } from '../../../app/sdk/program/idlValues.ts';
import * as program from '../../../app/sdk/program/program.ts';
import { NO_ACCOUNT, type RawAccount } from '../../harness/vm/backend.ts';
import { namedKeypair } from '../../harness/vm/keys.ts';
import { TEST_CALLER_ID } from '../../harness/vm/outcome.ts';
import { PRICE, TIERS, USDC, type World } from '../../harness/vm/world.ts';
import { BUDGET } from '../archiving.ts';
import * as acts from '../exploits/acts.ts';
import { compareReported, type Fields, stateIn } from '../reported.ts';
import * as moments from './moments.ts';
import { EARLY, keyring, type Market, NOBODY, signersOf, stage } from './parties.ts';
import { proposed, SCENARIOS, type Scenario } from './scenarios.ts';

/** Address for misplaced accounts. */
const ELSEWHERE = namedKeypair('elsewhere').publicKey;

interface IdlAccount {
  name: string;
  signer?: boolean;
  writable?: boolean;
  address?: string;
  pda?: object;
  relations?: string[];
}

/** A change of one account of an instruction that breaks a constraint. */
interface Attack {
  name: string;
  meta: Partial<AccountMeta>;
  /** Copied to ELSEWHERE first. */
  copy?: RawAccount | null;
}

/** Other states and arguments in which an instruction's event has other fields. */
const VARIANTS: [string, Scenario][] = [
  [
    'update_config',
    async (w) => program.updateConfig({ admin: w.admin.publicKey, tiers: TIERS.slice(0, 1), exposureMultiple: 3 }),
  ],
  [
    'apply_change',
    async (w, side) => {
      const { changeId, payer } = await proposed(w, side, { guardian: side.creator.publicKey });
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

describe('the constraints of the IDL', () => {
  it('are attacked for every instruction', () => {
    expect(Object.keys(SCENARIOS).sort()).to.deep.equal(idlJson.instructions.map(({ name }) => name).sort());
  });

  for (const { name, accounts } of idlJson.instructions) {
    it(`of ${name} are kept: it refuses each account that breaks one, and succeeds with the right ones`, async () => {
      const market = await busy(name);
      const { w, mine, theirs } = market;
      const scenario = SCENARIOS[name]!;
      const other = await scenario(w, theirs);
      const attacked = await scenario(w, mine);
      const signers = keyring(market);
      const faults: string[] = [];
      for (const [at, account] of (accounts as IdlAccount[]).entries()) {
        const own = attacked.keys[at]!;
        const state = await w.vm.getAccount(own.pubkey);
        for (const attack of attacksOn(account, own, other.keys[at]!.pubkey, state)) {
          if (attack.copy) w.vm.setAccount(ELSEWHERE, attack.copy);
          const keys = attacked.keys.map((key, place) => (place === at ? { ...key, ...attack.meta } : key));
          const { error } = await send(w, new TransactionInstruction({ ...attacked, keys }), signers);
          w.vm.closeAccount(ELSEWHERE);
          if (!isRefusal(error, attack))
            faults.push(`${account.name}, ${attack.name}: ${error?.name ?? 'it succeeded'}`);
        }
      }
      expect(faults).to.deep.equal([]);
      expect(await w.vm.measure([...BUDGET, attacked], signersOf(attacked, signers))).to.be.at.most(PACKET_DATA_SIZE);
      expect(await report(market, attacked)).to.include(AMOUNTS[name] ?? {});
    });
  }

  for (const [name, scenario] of VARIANTS) {
    it(`of ${name} are not all: in another state, its event has other fields of the accounts`, async () => {
      const market = await busy(name);
      await report(market, await scenario(market.w, market.mine));
    });
  }
});

describe('accounts that only the program can make', () => {
  /** No instruction makes them like this, but a later version could. */
  const STATES: Record<string, RawAccount> = {
    missing: NO_ACCOUNT,
    "another program's": { lamports: 10_000_000n, owner: TEST_CALLER_ID, data: new Uint8Array(8) },
  };
  const REFUSED: [string, string, string, string][] = [
    ...['archive_executions', 'claim_refund', 'move_unclaimed_deposit', 'move_unclaimed_refund'].map(
      (name): [string, string, string, string] => [name, 'tree', 'missing', 'InvalidTree'],
    ),
    ['open_dispute_with_proof', 'tree', 'missing', 'InvalidTree'],
    ['open_execution_from_deposit', 'vault', 'missing', 'DepositVaultUnsound'],
    ['refund_deposit', 'vault', 'missing', 'DepositVaultUnsound'],
    ['move_unclaimed_deposit', 'vault', 'missing', 'DepositVaultUnsound'],
    ['move_unclaimed_deposit', 'unclaimed', 'missing', 'DestinationUnusable'],
    ['claim_refund', 'unclaimed', 'missing', 'InvalidAmount'],
    ['claim_refund', 'claim', "another program's", 'AccountExists'],
    ['initialize_config', 'treasury', "another program's", 'AccountExists'],
    ['list_agent', 'collateral_vault', "another program's", 'AccountExists'],
  ];

  for (const [name, account, state, error] of REFUSED) {
    it(`are refused by ${name} if ${account} is ${state}`, async () => {
      const market = await stage(name);
      const { w, mine } = market;
      const instruction = await SCENARIOS[name]!(w, mine);
      const { accounts } = idlJson.instructions.find((known) => known.name === name)!;
      const { pubkey } = instruction.keys[accounts.findIndex((known) => known.name === account)]!;
      w.vm.setAccount(pubkey, STATES[state]!);
      const outcome = await send(w, instruction, keyring(market));
      expect(outcome.error?.name, outcome.logs.join('\n')).to.equal(error);
    });
  }
});

/** All ways to break the constraints of one account. `theirs` is the other side's account at this place. */
function attacksOn(account: IdlAccount, own: AccountMeta, theirs: PublicKey, state: RawAccount | null): Attack[] {
  const attacks: Attack[] = [];
  if (account.signer) attacks.push({ name: 'without its signature', meta: { isSigner: false } });
  if (account.writable) attacks.push({ name: 'read-only', meta: { isWritable: false } });
  // Anchor's `event_cpi` gives `program` no address; the program itself checks it.
  const isDetermined = account.address || account.pda || account.relations || account.name === 'program';
  if (!isDetermined) return attacks;
  if (account.signer) return [...attacks, { name: "a stranger's", meta: { pubkey: NOBODY.publicKey } }];
  attacks.push({
    name: state ? 'the same bytes elsewhere' : 'an empty address',
    meta: { pubkey: ELSEWHERE },
    copy: state,
  });
  if (!own.pubkey.equals(theirs)) attacks.push({ name: "another user's own", meta: { pubkey: theirs } });
  return attacks;
}

/** The program refuses with an error of ours or Anchor's. What `init` makes read-only, the system program refuses. */
function isRefusal(error: { name: string; code: number | null } | null, attack: Attack): boolean {
  if (!error) return false;
  return attack.name === 'read-only' || (error.code !== null && /^[A-Z]\w+$/.test(error.name));
}

/** Sends with the keys of all accounts that sign. */
function send({ vm }: World, instruction: TransactionInstruction, people: Map<string, Keypair>) {
  return vm.send([instruction], signersOf(instruction, people));
}

/** Time has passed since the listing and the grant, the listing has exposure, and the grant has spent. */
async function busy(name: string): Promise<Market> {
  const market = await stage(name);
  if (EARLY.includes(name)) return market;
  const { w, mine } = market;
  await w.must([program.updateConfig({ admin: w.admin.publicKey, exposureMultiple: 10 })], [w.admin]);
  await moments.openWithGrant(w, mine);
  await w.vm.setClock(w.vm.now + 100n);
  return market;
}

/** Sends it, compares its one event with the accounts before and after, and returns the event's fields. */
async function report(market: Market, instruction: TransactionInstruction): Promise<Fields> {
  const { w } = market;
  const stateOf = async ({ pubkey }: AccountMeta) => stateIn(await w.vm.getAccount(pubkey));
  const before = await Promise.all(instruction.keys.map(stateOf));
  const { events } = await w.must([instruction], signersOf(instruction, keyring(market)));
  expect(events, 'one event').to.have.length(1);
  const { data: event, name: eventName } = events[0]!;
  const names = acts.accountNames(instruction).map(toCamel);
  for (const [place, key] of instruction.keys.entries()) {
    const told = event[names[place]!];
    // An event names the key itself, not its account, and a moved refund's own destination.
    const isOther = names[place] === 'signingKey' || (names[place] === 'destination' && 'unclaimed' in event);
    if (!isOther && told instanceof PublicKey) expect(told.toBase58(), names[place]).to.equal(key.pubkey.toBase58());
    const is = key.isWritable ? await stateOf(key) : null;
    if (is) compareReported(event, eventName, before[place] ?? null, is);
  }
  return event;
}
