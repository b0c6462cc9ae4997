/**
 * The state that both nodes are asked about. Ordinary transactions from fixed keys create the same accounts and
 * transactions each time. Only blockhashes, and so signatures, differ.
 */
import { createHash } from 'node:crypto';
import {
  createApproveCheckedInstruction,
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createAssociatedTokenAccountInstruction,
  createBurnCheckedInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createFreezeAccountInstruction,
  createInitializeMint2Instruction,
  createMintToCheckedInstruction,
  createMintToInstruction,
  createRevokeInstruction,
  createThawAccountInstruction,
  createTransferCheckedInstruction,
  createTransferInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { until } from '../edge/until.ts';
import { type Config, signVersionOne } from '../node/versionOne.ts';

export const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const MINT_DECIMALS = 6;
/** Name of an address without a program. */
const NO_PROGRAM = 'missing program';

const keypair = (name: string) => Keypair.fromSeed(createHash('sha256').update(`answers: ${name}`).digest());
const address = (name: string) => keypair(name).publicKey;
const payer = keypair('payer');
const mint = keypair('mint');
const tokensOf = (name: string) => getAssociatedTokenAddressSync(mint.publicKey, address(name));

/** All addresses of the scene by name. */
export const ADDRESSES = {
  ...Object.fromEntries(
    ['payer', 'mint', 'rich', 'poor', 'delegate', 'new', 'ghost', 'listener', 'other owner', NO_PROGRAM].map((name) => [
      name,
      address(name),
    ]),
  ),
  'tokens of payer': tokensOf('payer'),
  'tokens of rich': tokensOf('rich'),
  'tokens of poor': tokensOf('poor'),
  'tokens of other owner': tokensOf('other owner'),
} as Record<string, PublicKey>;

export const at = (name: string): string => {
  const found = ADDRESSES[name];
  if (!found) throw new Error(`the scene has no ${name}`);
  return found.toBase58();
};

export const memo = (text: string) =>
  new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(text) });
export const transfer = (to: string, lamports: number, from = 'payer') =>
  SystemProgram.transfer({ fromPubkey: address(from), toPubkey: ADDRESSES[to]!, lamports });
export const unitPrice = (microLamports: number) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports });
export const unitLimit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units });
export const toMissingProgram = () =>
  new TransactionInstruction({ programId: ADDRESSES[NO_PROGRAM]!, keys: [], data: Buffer.alloc(0) });
/** An instruction that the compute-budget program does not know. */
export const unknownBudget = () =>
  new TransactionInstruction({ programId: ComputeBudgetProgram.programId, keys: [], data: Buffer.from([9]) });

export interface Made {
  bytes: Buffer;
  base64: string;
  signature: string;
  message: string;
}

interface Making {
  signer?: string;
  signers?: Keypair[];
  version?: 'legacy' | 0;
  blockhash?: string;
  unsigned?: boolean;
  /** Name of an address to read from a lookup table that does not exist. */
  lookup?: string;
}

/** Largest transaction of version 1. */
const MAX_BYTES = 4_096;
/** Size of one with a single instruction without data. */
const EMPTY_BYTES = 182;

/** Transactions of version 1, by what is special about them. */
async function makeVersionOne(blockhash: string): Promise<Record<string, Made>> {
  const sign = async (instructions: TransactionInstruction[], config: Config = {}, hash = blockhash): Promise<Made> => {
    const made = await signVersionOne(instructions, [payer], hash, config);
    return { ...made, base64: made.bytes.toString('base64') };
  };
  const pay = transfer('rich', 7);
  const [good, other] = [await sign([pay]), await sign([transfer('rich', 8)])];
  const longer = Buffer.concat([other.bytes, Buffer.from([1])]);
  /** In version 1, the compute-budget program runs and does nothing, whatever it is given. */
  const ofSize = (bytes: number) =>
    sign([new TransactionInstruction({ ...unknownBudget(), data: Buffer.alloc(bytes - EMPTY_BYTES) })]);
  const changed = (change: (bytes: Buffer) => Buffer): Made => {
    const bytes = change(Buffer.from(good.bytes));
    return { ...good, bytes, base64: bytes.toString('base64') };
  };
  return {
    'a good one': good,
    'a priority fee': await sign([pay], { priorityFee: 777n }),
    'no limit of units': await sign([memo('no units')], { units: null }),
    'no limit of loaded bytes': await sign([pay], { loadedBytes: null }),
    'no limits': await sign([pay], { units: null, loadedBytes: null }),
    'too few units': await sign([pay], { units: 149 }),
    'too few loaded bytes': await sign([pay], { loadedBytes: 100 }),
    'compute-budget instructions': await sign([unitLimit(1), unitPrice(1_000_000), unitLimit(2), pay]),
    'an unknown compute-budget instruction': await sign([unknownBudget(), pay]),
    'an unknown blockhash': await sign([pay], {}, at('ghost')),
    'a wrong signature': changed((bytes) => {
      bytes[bytes.length - 1]! ^= 1;
      return bytes;
    }),
    'no instructions': await sign([]),
    'the largest': await ofSize(MAX_BYTES),
    'a byte too large': await ofSize(MAX_BYTES + 1),
    'a byte too much': { ...other, bytes: longer, base64: longer.toString('base64') },
    'half of it': changed((bytes) => bytes.subarray(0, bytes.length / 2)),
    'version 2': changed((bytes) => Buffer.concat([Buffer.from([0x82]), bytes.subarray(1)])),
  };
}

/** A transaction of the scene that has landed. */
export interface Played extends Made {
  slot: number;
}

export interface Scene {
  rpcUrl: string;
  wsUrl: string;
  programId: string;
  /** A recent blockhash when the questions are asked. */
  blockhash: string;
  played: Record<string, Played>;
  /** Transactions sent without preflight. Questions ask for their outcome. */
  outcomes: Record<string, Made>;
  /** Of version 1. */
  ones: Record<string, Made>;
  make(instructions: TransactionInstruction[], options?: Making): Made;
}

const COMMITMENT = 'confirmed';

function makeOf(blockhashNow: () => string): Scene['make'] {
  return (instructions, { signer = 'payer', signers = [], version = 'legacy', blockhash, unsigned, lookup } = {}) => {
    const plan = new TransactionMessage({
      payerKey: address(signer),
      recentBlockhash: blockhash ?? blockhashNow(),
      instructions,
    });
    const message =
      version === 0 ? plan.compileToV0Message(lookup ? [tableOf(lookup)] : []) : plan.compileToLegacyMessage();
    const transaction = new VersionedTransaction(message);
    if (!unsigned) transaction.sign([keypair(signer), ...signers]);
    const bytes = Buffer.from(transaction.serialize());
    return {
      bytes,
      base64: bytes.toString('base64'),
      signature: bs58.encode(transaction.signatures[0]!),
      message: Buffer.from(message.serialize()).toString('base64'),
    };
  };
}

function tableOf(name: string): AddressLookupTableAccount {
  const state = { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 };
  return new AddressLookupTableAccount({ key: address('ghost'), state: { ...state, addresses: [address(name)] } });
}

/** Flips one bit of the signature. */
export function spoiled(made: Made): Made {
  const bytes = Buffer.from(made.bytes);
  bytes[10]! ^= 1;
  return { ...made, bytes, base64: bytes.toString('base64'), signature: bs58.encode(bytes.subarray(1, 65)) };
}

/** Plays the scene, until everything in it is final. */
export async function playScene(options: { rpcUrl: string; wsUrl: string; programId: PublicKey }): Promise<Scene> {
  const { rpcUrl, wsUrl, programId } = options;
  const connection = new Connection(rpcUrl, { commitment: COMMITMENT, wsEndpoint: wsUrl });
  let blockhash = '';
  const make = makeOf(() => blockhash);
  const played: Record<string, Played> = {};
  const statusOf = async (signature: string) =>
    (await connection.getSignatureStatuses([signature], { searchTransactionHistory: true })).value[0] ?? null;

  async function landed(signature: string): Promise<number> {
    let slot = 0;
    await until(`${signature} is confirmed`, async () => {
      const status = await statusOf(signature);
      slot = status?.slot ?? 0;
      return status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized';
    });
    return slot;
  }
  const send = ({ bytes }: Made) => connection.sendRawTransaction(bytes, { skipPreflight: true });

  async function renew(): Promise<string> {
    blockhash = (await connection.getLatestBlockhash(COMMITMENT)).blockhash;
    return blockhash;
  }
  async function play(name: string, instructions: TransactionInstruction[], making: Making = {}): Promise<void> {
    await renew();
    await playMade(name, make(instructions, making));
  }
  async function playMade(name: string, made: Made): Promise<void> {
    await send(made);
    played[name] = { ...made, slot: await landed(made.signature) };
  }

  await landed(await connection.requestAirdrop(payer.publicKey, 100 * LAMPORTS_PER_SOL));
  await play('transfer', [transfer('rich', 10 * LAMPORTS_PER_SOL), transfer('poor', 892_880)]);
  await play(
    'mint',
    [
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: mint.publicKey,
        lamports: await connection.getMinimumBalanceForRentExemption(MINT_SIZE),
        space: MINT_SIZE,
        programId: TOKEN_PROGRAM_ID,
      }),
      createInitializeMint2Instruction(mint.publicKey, MINT_DECIMALS, payer.publicKey, payer.publicKey),
    ],
    { signers: [mint] },
  );
  const opened = ['payer', 'rich', 'poor'].map((name) =>
    createAssociatedTokenAccountIdempotentInstruction(payer.publicKey, tokensOf(name), address(name), mint.publicKey),
  );
  await play('tokens', [
    ...opened,
    createMintToInstruction(mint.publicKey, tokensOf('payer'), payer.publicKey, 1_500_000),
    createFreezeAccountInstruction(tokensOf('poor'), mint.publicKey, payer.publicKey),
  ]);
  await play('approve', [
    createApproveInstruction(tokensOf('payer'), address('delegate'), payer.publicKey, 250_000),
    createTransferCheckedInstruction(
      tokensOf('payer'),
      mint.publicKey,
      tokensOf('rich'),
      payer.publicKey,
      400_000,
      MINT_DECIMALS,
    ),
  ]);
  // Runs each kind of token account instruction. At the end everyone has the same tokens as before.
  const [own, rich, poor] = ['payer', 'rich', 'poor'].map(tokensOf) as [PublicKey, PublicKey, PublicKey];
  await play('all of tokens', [
    createThawAccountInstruction(poor, mint.publicKey, payer.publicKey),
    createTransferInstruction(own, rich, payer.publicKey, 1_000),
    createMintToCheckedInstruction(mint.publicKey, own, payer.publicKey, 3_000, MINT_DECIMALS),
    createBurnInstruction(own, mint.publicKey, payer.publicKey, 500),
    createBurnCheckedInstruction(own, mint.publicKey, payer.publicKey, 1_500, MINT_DECIMALS),
    createRevokeInstruction(own, payer.publicKey),
    createApproveCheckedInstruction(own, mint.publicKey, address('delegate'), payer.publicKey, 250_000, MINT_DECIMALS),
    createFreezeAccountInstruction(poor, mint.publicKey, payer.publicKey),
  ]);
  const other = keypair('other owner');
  const closed = tokensOf('other owner');
  await play(
    'an account closed',
    [
      createAssociatedTokenAccountInstruction(payer.publicKey, closed, other.publicKey, mint.publicKey),
      createCloseAccountInstruction(closed, payer.publicKey, other.publicKey),
    ],
    { signers: [other] },
  );
  await play('memo', [memo('hello'), memo('world')]);
  await play('failed', [memo('too much'), transfer('new', 1_000 * LAMPORTS_PER_SOL)]);
  await play('v0', [unitLimit(50_000), unitPrice(10_000), memo('version 0'), transfer('rich', 1_000)], { version: 0 });
  const versionOne = [memo('version 1'), unitLimit(1), transfer('rich', 1_000)];
  const signed = await signVersionOne(versionOne, [payer], await renew(), { priorityFee: 777n });
  await playMade('v1', { ...signed, base64: signed.bytes.toString('base64') });
  const ofOutcome = await makeVersionOne(await renew());

  const outcomes: Record<string, Made> = {
    'missing program': make([transfer('rich', 1), toMissingProgram()]),
    'missing program alone': make([toMissingProgram()]),
    'unknown compute-budget instruction': make([unknownBudget(), memo('unknown budget')]),
    'compute-budget instruction twice': make([unitLimit(1_000), unitLimit(2_000), memo('twice')]),
    'compute-unit limit of zero': make([unitLimit(0), memo('zero')]),
    'payer that is not there': make([memo('ghost')], { signer: 'ghost' }),
    'payer without rent after the fee': make([memo('poor')], { signer: 'poor' }),
    'wrong signature': spoiled(make([memo('wrong')])),
    'no signature': make([memo('unsigned')], { unsigned: true }),
    'unknown blockhash': make([memo('unknown')], { blockhash: at('ghost') }),
    'account left without rent': make([transfer('new', 5)]),
    'version 1 without a limit of units': ofOutcome['no limit of units']!,
    'version 1 without a limit of loaded bytes': ofOutcome['no limit of loaded bytes']!,
    'units run out': make([unitLimit(300), memo('a memo that needs far more units than three hundred of them')]),
  };
  for (const made of Object.values(outcomes)) {
    await send(made).catch(() => {});
    // Within a slot, a validator may change the order.
    const slot = await connection.getSlot('processed');
    await until('the slot has passed', async () => (await connection.getSlot('processed')) > slot + 1);
  }
  for (const name of ['marker', 'second marker', 'third marker']) await play(name, [memo(name)]);
  const last = played['third marker']!.slot;
  await until('the scene is final', async () => (await connection.getSlot('finalized')) >= last);
  blockhash = (await connection.getLatestBlockhash('finalized')).blockhash;
  const ones = await makeVersionOne(blockhash);
  return { rpcUrl, wsUrl, programId: programId.toBase58(), blockhash, played, outcomes, ones, make };
}
