/**
 * Compares the program's hand-written pieces with those of Anchor and anchor-spl: each must have exactly the same
 * effect, and save the compute units stated in ARCHITECTURE.md.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { type AccountMeta, PublicKey, SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import { idl } from '../../app/sdk/program/program.ts';
import { NO_ACCOUNT, type RawAccount } from '../harness/vm/backend.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import type { Outcome } from '../harness/vm/outcome.ts';
import { deployStandard, standardInstruction, TEST_STANDARD_ID } from '../harness/vm/standard.ts';
import { Vm } from '../harness/vm/vm.ts';

const SOL = 1_000_000_000n;
/** An `ExecutionRecord` without its discriminator. */
const RECORD = Buffer.from(Array.from({ length: 287 }, (_, index) => (index === 1 ? 2 : index % 251)));
const ID = RECORD.subarray(2, 18);

const ours = (error: string) => `${TEST_STANDARD_ID}:${idl.errors!.find(({ name }) => name === error)!.code}`;
const at = (...seeds: Uint8Array[]) => PublicKey.findProgramAddressSync(seeds, TEST_STANDARD_ID);
const text = (value: string) => Buffer.from(value);
const integer = (bytes: number, value: bigint) => {
  const written = Buffer.alloc(8);
  written.writeBigUInt64LE(value);
  return written.subarray(0, bytes);
};
const payer = namedKeypair('payer of the pieces');
const mint = namedKeypair('mint of the pieces').publicKey;
const [from, to, holder, stranger] = ['from', 'to', 'holder', 'stranger'].map((name) => namedKeypair(name).publicKey);
const [owner] = at(text('owner'));
const [record, recordBump] = at(text('execution'), ID);
const [tokens] = at(text('escrow'), mint.toBytes());
const [eventAuthority] = at(text('__event_authority'));

const reads = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: false });
const writes = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: true });
const gives: AccountMeta = { pubkey: payer.publicKey, isSigner: true, isWritable: true };
const token = reads(TOKEN_PROGRAM_ID);
const system = reads(SystemProgram.programId);
const ofTokens = (receiver: PublicKey) => [reads(owner), writes(from!), writes(receiver), token];
const ofLamports = [gives, writes(stranger!), system];
const ofState = [gives, writes(record), system];
const ofNewTokens = [gives, writes(tokens), reads(mint), token, system];
const ofEvents = [reads(eventAuthority), reads(TEST_STANDARD_ID)];

type World = (vm: Vm) => void;
interface Case {
  name: string;
  /** The row of ARCHITECTURE.md that states the saving. */
  piece?: string;
  /** Hand-written and standard: one instruction with a flag, or two instructions. */
  instructions: string | [byHand: string, standard: string];
  keys: AccountMeta[];
  args?: Uint8Array[];
  /** Writes the accounts that exist before. */
  world?: World;
  /** The error of both, or of each if they differ. */
  error?: string | [byHand: string, standard: string];
  /** The hand-written piece makes no call, because there is nothing to do. */
  callsNothing?: boolean;
}

const prefunded =
  (address: PublicKey, lamports: bigint): World =>
  (vm) =>
    vm.setAccount(address, { ...NO_ACCOUNT, lamports });
const stored: World = (vm) => {
  const discriminator = createHash('sha256').update('account:ExecutionRecord').digest().subarray(0, 8);
  const data = Buffer.concat([discriminator, RECORD]);
  vm.setAccount(record, { lamports: SOL, owner: TEST_STANDARD_ID, data });
};
const holding =
  (amount: bigint, frozen = false): World =>
  (vm) =>
    vm.setTokenAccount(from!, { mint, owner, amount, frozen });
const MADE = ['make_state_by_hand', 'make_state'] satisfies Case['instructions'];
const TOKENS_MADE = ['make_tokens_by_hand', 'make_tokens'] satisfies Case['instructions'];
const RENT = (128n + 295n) * 6_960n;

const CASES: Case[] = [
  {
    name: 'a transfer',
    piece: 'token transfer',
    instructions: 'move_tokens',
    keys: ofTokens(to!),
    args: [integer(8, 5n)],
  },
  {
    name: 'a transfer of nothing',
    instructions: 'move_tokens',
    keys: ofTokens(to!),
    args: [integer(8, 0n)],
    callsNothing: true,
  },
  {
    name: 'a transfer of more than there is',
    instructions: 'move_tokens',
    keys: ofTokens(to!),
    args: [integer(8, 11n)],
    error: 'token:1',
  },
  {
    name: 'a transfer out of a frozen account',
    instructions: 'move_tokens',
    keys: ofTokens(to!),
    args: [integer(8, 5n)],
    world: holding(10n, true),
    error: 'token:17',
  },
  {
    name: 'a closed token account',
    instructions: 'close_tokens',
    keys: ofTokens(stranger!),
    world: holding(0n),
    piece: 'closing a token account',
  },
  {
    name: 'a close of an account with tokens',
    instructions: 'close_tokens',
    keys: ofTokens(stranger!),
    error: 'token:11',
  },
  {
    name: 'a payment of lamports',
    instructions: 'move_lamports',
    keys: ofLamports,
    args: [integer(8, SOL)],
    piece: 'transfer of lamports',
  },
  {
    name: 'a payment of nothing',
    instructions: 'move_lamports',
    keys: ofLamports,
    args: [integer(8, 0n)],
    callsNothing: true,
  },
  {
    name: 'a payment of more than there is',
    instructions: 'move_lamports',
    keys: ofLamports,
    args: [integer(8, 11n * SOL)],
    error: 'system:1',
  },
  { name: 'a new account', instructions: MADE, keys: ofState, args: [RECORD], piece: 'new account of ours' },
  {
    name: 'a new account where lamports were',
    instructions: MADE,
    keys: ofState,
    args: [RECORD],
    world: prefunded(record, 1_000_000n),
  },
  {
    name: 'a new account where its rent was',
    instructions: MADE,
    keys: ofState,
    args: [RECORD],
    world: prefunded(record, RENT),
  },
  {
    name: 'an account that exists',
    instructions: MADE,
    keys: ofState,
    args: [RECORD],
    world: stored,
    error: [ours('AccountExists'), 'system:0'],
  },
  { name: 'a new token account', instructions: TOKENS_MADE, keys: ofNewTokens, piece: 'new token account' },
  {
    name: 'a new token account where lamports were',
    instructions: TOKENS_MADE,
    keys: ofNewTokens,
    world: prefunded(tokens, 1_000_000n),
  },
  {
    name: 'a changed account',
    instructions: ['save_by_hand', 'save_record'],
    keys: [writes(record)],
    args: [integer(8, 9n)],
    world: stored,
    piece: 'writing an account back',
  },
  { name: 'a printed event', instructions: 'print', keys: [], args: [RECORD], piece: 'printed event' },
  {
    name: 'an event as a call, of one execution',
    instructions: 'tell',
    keys: ofEvents,
    args: [integer(1, 1n), RECORD],
  },
  {
    name: 'an event as a call, of twelve',
    instructions: 'tell',
    keys: ofEvents,
    args: [integer(1, 12n), RECORD],
    piece: 'event as a call, of 12 executions',
  },
  {
    name: 'an address whose bump is known',
    instructions: 'locate',
    keys: [],
    args: [ID, integer(1, BigInt(recordBump))],
    piece: 'address whose bump is known',
  },
  { name: 'a check that holds', instructions: 'check', keys: [], args: [integer(1, 1n)] },
  {
    name: 'a check that fails',
    instructions: 'check',
    keys: [],
    args: [integer(1, 0n)],
    error: ours('ArithmeticOverflow'),
    piece: 'failed check',
  },
  ...[0n, 165n, 295n, 10_240n, 10_485_760n].map(
    (bytes): Case => ({
      name: `the rent of ${bytes} bytes`,
      instructions: 'price',
      keys: [],
      args: [integer(4, bytes)],
      ...(bytes === 295n && { piece: 'rent of an account' }),
    }),
  ),
];

/** All visible effects of a transaction except its cost. */
async function seen(vm: Vm, { keys }: Case, { ok, logs, calls }: Outcome) {
  const accounts: [string, RawAccount | null][] = [];
  for (const { pubkey } of keys) accounts.push([pubkey.toBase58(), await vm.getAccount(pubkey)]);
  return {
    ok,
    accounts: accounts.map(([address, account]) => {
      const { lamports = 0n, owner = SystemProgram.programId, data = new Uint8Array() } = account ?? {};
      return [address, lamports, owner.toBase58(), Buffer.from(data).toString('hex')];
    }),
    printed: logs.filter((line) => line.startsWith('Program data: ')),
    calls: calls.map(({ programId, data }) => [programId.toBase58(), Buffer.from(data).toString('hex')]),
  };
}

describe('our replacements of code of Anchor and anchor-spl', () => {
  let vm: Vm;
  const savings = new Map<string, number>();

  before(async () => {
    vm = await Vm.create('litesvm');
    deployStandard(vm);
    vm.setMint(mint, payer.publicKey);
  });

  /** Restores the initial state, then runs a case. */
  async function run(attempt: Case, byHand: boolean): Promise<Outcome> {
    for (const address of [record, tokens, stranger!]) vm.closeAccount(address);
    vm.setAccount(payer.publicKey, { ...NO_ACCOUNT, lamports: 10n * SOL });
    vm.setTokenAccount(to!, { mint, owner: holder!, amount: 0n });
    holding(10n)(vm);
    attempt.world?.(vm);
    const { instructions, keys, args = [] } = attempt;
    const instruction =
      typeof instructions === 'string'
        ? standardInstruction(instructions, keys, integer(1, byHand ? 1n : 0n), ...args)
        : standardInstruction(instructions[byHand ? 0 : 1], keys, ...args);
    return vm.send([instruction], keys.some(({ isSigner }) => isSigner) ? [payer] : []);
  }

  for (const attempt of CASES) {
    it(`behave like the original: ${attempt.name}`, async () => {
      const byHand = await run(attempt, true);
      const found = await seen(vm, attempt, byHand);
      const standard = await run(attempt, false);
      const { error = [undefined, undefined] } = attempt;
      const [expectedByHand, expected] = typeof error === 'string' ? [error, error] : error;
      expect([byHand.error?.name, standard.error?.name]).to.deep.equal([expectedByHand, expected]);
      const wanted = await seen(vm, attempt, standard);
      if (attempt.callsNothing || expected !== expectedByHand) wanted.calls = [];
      expect(found).to.deep.equal(wanted);
      if (attempt.piece) savings.set(attempt.piece, standard.computeUnits - byHand.computeUnits);
    });
  }

  it('save the compute units that ARCHITECTURE.md says', () => {
    const lines = readFileSync(join(import.meta.dirname, '../../ARCHITECTURE.md'), 'utf8').split('\n');
    const rows = lines.filter((line) => /^\| .*\.rs` .* \| -?[\d,]+ \|$/.test(line)).map((line) => line.split('|'));
    const said = rows.map((cells) => [cells[1]!.trim(), Number(cells.at(-2)!.replaceAll(',', ''))]);
    expect(Object.fromEntries(said)).to.deep.equal(Object.fromEntries(savings));
  });
});
