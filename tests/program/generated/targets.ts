/**
 * The accounts to attack, read from the IDL: every account of every instruction, with its flags and kind. The suite
 * fails for a name that is not listed here, so that no new kind of account is overlooked.
 */
import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import idlJson from '../../../app/sdk/program/idl/marketplace.json' with { type: 'json' };
import type { World } from '../../harness/vm/world.ts';
import type { Scenario } from './scenarios.ts';
import type { Snapshot } from './snapshot.ts';

/** The kind of an account. */
export type Kind = 'wallet' | 'state' | 'tree' | 'token' | 'mint' | 'address' | 'program' | 'programData';

/** Kinds of accounts by their names in the IDL. For states, the name of the type. */
const STATES: Record<string, string> = {
  config: 'Config',
  change: 'PendingChange',
  profile: 'CreatorProfile',
  listing: 'AgentListing',
  signing_key: 'SigningKey',
  collateral: 'CreatorCollateral',
  grant: 'KeyGrant',
  record: 'ExecutionRecord',
  deposit: 'Deposit',
  dispute: 'Dispute',
  archive: 'Archive',
  previous: 'Archive',
};
const KINDS: Record<Exclude<Kind, 'state'>, string[]> = {
  wallet: [
    'admin',
    'authority',
    'caller',
    'creator',
    'deposit_rent_sponsor',
    'next_admin',
    'payer',
    'relay_authority',
    'rent_sponsor',
    'spender',
    'wallet',
  ],
  tree: ['tree'],
  token: ['collateral_vault', 'destination', 'escrow', 'payout', 'source', 'treasury', 'unclaimed', 'vault'],
  mint: ['usdc_mint'],
  address: ['claim', 'event_authority'],
  program: ['associated_token_program', 'program', 'system_program', 'token_program'],
  programData: ['program_data'],
};
/** Accounts that exist only once for all sides. */
const SINGLE = [
  'admin',
  'config',
  'event_authority',
  'next_admin',
  'program_data',
  'relay_authority',
  'treasury',
  'unclaimed',
  'usdc_mint',
];

/** The account types of the program. */
export const TYPES: string[] = idlJson.accounts.map(({ name }) => name);

/** One account of one instruction. */
export interface Target {
  /** The instruction, and the scenario if there are several. */
  title: string;
  instruction: string;
  name: string;
  index: number;
  kind: Kind;
  /** The account type, if it is a state. */
  type: string | null;
  signer: boolean;
  writable: boolean;
  /** True if the IDL determines the account: by an address, by seeds, or as a field of another account. */
  determined: boolean;
  /** True if there is no account at the address before. */
  absent: boolean;
  /** True if all sides use the same account. */
  single: boolean;
  /** Names of the instruction's other accounts. */
  siblings: string[];
}

/** An instruction in a state in which it succeeds, and everything needed to attack it. */
export interface Scene {
  w: World;
  /** The last one is attacked. Those before it are its proof. */
  mine: TransactionInstruction[];
  /** The same instructions by the other side. */
  theirs: TransactionInstruction[];
  /** An account of each type. */
  samples: Map<string, PublicKey>;
  /** Keypairs of all parties. */
  keys: Map<string, Keypair>;
  baseline: Snapshot;
}

export function titleOf({ instruction, when }: Scenario): string {
  return when ? `${instruction} ${when}` : instruction;
}

/** The accounts to attack in a scenario. Throws for an unknown instruction or account. */
export function targetsOf(scenario: Scenario): Target[] {
  const { instruction, absent = [], shared = [] } = scenario;
  const definition = idlJson.instructions.find(({ name }) => name === instruction);
  if (!definition) throw new RangeError(`the program has no instruction ${instruction}`);
  const names = definition.accounts.map(({ name }) => name);
  for (const name of [...absent, ...shared]) {
    if (!names.includes(name)) throw new RangeError(`${instruction} has no account ${name}`);
  }
  return definition.accounts.map((account, index) => {
    const { name } = account;
    const kind = kindOf(name);
    const fixed = kind === 'program' || SINGLE.includes(name) || shared.includes(name);
    return {
      title: titleOf(scenario),
      instruction,
      name,
      index,
      kind,
      type: STATES[name] ?? null,
      signer: 'signer' in account && account.signer === true,
      writable: 'writable' in account && account.writable === true,
      determined: 'address' in account || 'pda' in account || 'relations' in account,
      absent: absent.includes(name),
      single: fixed,
      siblings: names.filter((other) => other !== name),
    };
  });
}

/** Names of the instruction's accounts, in their order. */
export function accountNames({ name, index, siblings }: Target): string[] {
  return [...siblings.slice(0, index), name, ...siblings.slice(index)];
}

function kindOf(name: string): Kind {
  if (name in STATES) return 'state';
  for (const [kind, names] of Object.entries(KINDS)) if (names.includes(name)) return kind as Kind;
  throw new RangeError(`nobody has said what the account ${name} is`);
}
