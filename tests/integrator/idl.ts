/**
 * The program as an outside integrator uses it, with Anchor, web3.js, SPL Token and the IDL's JSON alone. Seeds and
 * domains come from the IDL's constants, addresses and errors from Anchor.
 */
import { createHash, createPrivateKey, randomBytes, sign } from 'node:crypto';
import anchor from '@coral-xyz/anchor';
import { type Connection, type Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import idlJson from '../../app/sdk/program/idl/marketplace.json' with { type: 'json' };

export const idl = idlJson as anchor.Idl;
export const PROGRAM_ID = new PublicKey(idl.address);

/**
 * The accounts that an integrator has to name, for each instruction that needs no relay. Anchor finds all others. A
 * signer or payer other than the provider's wallet is named too.
 */
export const NAMED = {
  listAgent: ['payout', 'source'],
  updateListing: ['listing', 'payout'],
  setListingStatus: ['listing'],
  rotateSigningKey: ['listing'],
  topUpCollateral: ['listing', 'source'],
  delistAgent: ['listing'],
  returnCollateral: ['listing'],
  sweepForfeits: ['collateral'],
  createGrant: [],
  updateGrant: ['grant'],
  revokeGrant: ['grant'],
  closeGrant: ['grant'],
  withdrawGas: [],
  openExecution: ['listing', 'rentSponsor', 'source'],
  prepareDeposit: ['deposit', 'rentSponsor'],
  refundDeposit: ['deposit'],
  refundExecution: ['record'],
  moveUnclaimedRefund: ['archive', 'record'],
  moveUnclaimedDeposit: ['archive', 'deposit'],
  claimRefund: ['archive', 'destination'],
  closeExecution: ['record'],
  createArchive: ['previous', 'tree'],
  archiveExecutions: ['archive'],
  openDispute: ['record'],
  openDisputeWithProof: ['archive', 'collateral'],
  lapseDispute: ['dispute'],
  claimDisputeAward: ['dispute'],
  closeDispute: ['dispute'],
} satisfies Record<string, string[]>;

/** The same for instructions of the relay or the admin that the story needs. */
const OFFICIAL: Record<string, string[]> = {
  settleExecution: ['payout', 'record'],
  resolveDispute: ['dispute', 'listing'],
};

export type Instruction = keyof typeof NAMED | 'settleExecution' | 'resolveDispute';

/** A `bytes` constant of the IDL, which the IDL writes as a list of numbers. */
export function constant(name: string): Buffer {
  return Buffer.from(JSON.parse(idl.constants!.find((candidate) => candidate.name === name)!.value));
}

/** The address derived from a seed constant and further seeds. */
export function find(seed: string, ...parts: Uint8Array[]): PublicKey {
  return PublicKey.findProgramAddressSync([constant(seed), ...parts], PROGRAM_ID)[0];
}

/** The execution id of caller and nonce: a version 8 UUID from their hash. */
export function executionId(caller: PublicKey, nonce: Uint8Array): Buffer {
  const hash = createHash('sha256').update(constant('EXECUTION_ID_DOMAIN')).update(caller.toBytes()).update(nonce);
  const id = hash.digest().subarray(0, 16);
  id[6] = (id[6]! & 0x0f) | 0x80;
  id[8] = (id[8]! & 0x3f) | 0x80;
  return id;
}

/** A nonce that is valid now: the half-hour as a little-endian u32, then any bytes. */
export function nonceOf(unixSeconds: number, tail: Uint8Array = randomBytes(12)): Buffer {
  const nonce = Buffer.concat([Buffer.alloc(4), tail.subarray(0, 12)]);
  nonce.writeUInt32LE(
    Math.floor(unixSeconds / Number(idl.constants!.find(({ name }) => name === 'NONCE_HALF_HOUR_SECONDS')!.value)),
  );
  return nonce;
}

/** The proof that the creator holds the signing key, 64 bytes. */
export function possession(signingKey: Keypair, listing: PublicKey): number[] {
  return signed(signingKey, Buffer.concat([constant('REGISTER_DOMAIN'), listing.toBytes()]));
}

/** A creator's signature over a result's hash, 64 bytes. */
export function signedResult(signingKey: Keypair, resultHash: Uint8Array): number[] {
  return signed(signingKey, Buffer.from(`sha256:${hex(resultHash)}`));
}

/** PKCS #8 prefix of the seed of an Ed25519 key (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

function signed({ secretKey }: Keypair, message: Uint8Array): number[] {
  const key = Buffer.concat([PKCS8_HEAD, secretKey.subarray(0, 32)]);
  return [...sign(null, message, createPrivateKey({ key, format: 'der', type: 'pkcs8' }))];
}

/** The IDL's name of the error that a transaction fails with. Rethrows any other failure. */
export async function refusal(sending: Promise<unknown>): Promise<string> {
  const error = await sending.then(
    () => expect.fail('the transaction went through'),
    (reason: Error & { logs?: string[] }) => reason,
  );
  // Anchor's own checks report their name; the program's checks report a code in the last line of the log.
  if (error instanceof anchor.AnchorError) return error.error.errorCode.code;
  const lastLine = error.logs?.at(-1);
  if (!lastLine) throw error;
  const named = anchor.translateError(new Error(lastLine), anchor.parseIdlErrors(idl));
  if (!(named instanceof anchor.ProgramError)) throw error;
  const { name, msg } = idl.errors!.find(({ code }) => code === named.code)!;
  expect(named.msg).to.equal(msg);
  return name;
}

export interface Sending {
  /** Instructions before and after ours, in the same transaction. */
  before?: TransactionInstruction[];
  after?: TransactionInstruction[];
}

/** Anchor's program for one wallet. */
export function createClient(connection: Connection, wallet: Keypair) {
  const options = { commitment: 'confirmed', preflightCommitment: 'confirmed' } as const;
  const provider = new anchor.AnchorProvider(connection, new anchor.Wallet(wallet), options);
  const program = new anchor.Program(idl, provider);
  const accounts = program.account as unknown as Record<string, anchor.AccountClient>;
  const events = new anchor.EventParser(program.programId, program.coder);

  return {
    wallet: wallet.publicKey,
    program,
    /** Fetches an account's fields; `type` is its type in camelCase. */
    // biome-ignore lint/suspicious/noExplicitAny: asserted field by field
    fetch: (type: string, address: PublicKey): Promise<any> => accounts[type]!.fetch(address),
    /** Sends one instruction with exactly the accounts that have to be named; returns the signature. */
    send(
      name: Instruction,
      args: object | null,
      named: Record<string, PublicKey>,
      { before = [], after = [] }: Sending = {},
    ): Promise<string> {
      expect(Object.keys(named).sort()).to.deep.equal(({ ...NAMED, ...OFFICIAL } as Record<string, string[]>)[name]);
      return program.methods[name]!(...(args ? [args] : []))
        .accounts(named)
        .preInstructions(before)
        .postInstructions(after)
        .rpc();
    },
    /** The only event of a transaction. */
    async eventOf(signature: string): Promise<{ name: string; data: Record<string, unknown> }> {
      const found = await connection.getTransaction(signature, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 255,
      });
      const all = [...events.parseLogs(found!.meta!.logMessages!)];
      expect(all.map((event) => event.name)).to.have.length(1);
      return { name: all[0]!.name, data: readable(all[0]!.data) as Record<string, unknown> };
    },
  };
}

export type Client = ReturnType<typeof createClient>;

/** Anchor's values in comparable form: numbers as bigint, addresses as base58, bytes as hex. */
export function readable(value: unknown): unknown {
  if (anchor.BN.isBN(value)) return BigInt(String(value));
  if (value instanceof PublicKey) return value.toBase58();
  if (Array.isArray(value)) return value.every((item) => typeof item === 'number') ? hex(value) : value.map(readable);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, readable(item)]));
}

export const sha256 = (text: string | Uint8Array): Buffer => createHash('sha256').update(text).digest();

/** Bytes as hex text. */
export function hex(bytes: Iterable<number>): string {
  return Buffer.from([...bytes]).toString('hex');
}
