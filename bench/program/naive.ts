/**
 * The baseline of bench/program/naive: its instructions, and the accounts that it needs but does not make, written into
 * the VM. What they hold is what the marketplace's hold for the same call.
 */
import { createHash } from 'node:crypto';
import { ASSOCIATED_TOKEN_PROGRAM_ID, createApproveInstruction, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import {
  type AccountMeta,
  Ed25519Program,
  type Keypair,
  PublicKey,
  SYSVAR_INSTRUCTIONS_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import nacl from 'tweetnacl';
import type { OpenTerms } from '../../app/sdk/program/program.ts';
import { PROGRAMS } from '../../tests/harness/vm/deployment.ts';
import { GRACE, PRICE, RESULT_HASH, resultMessage, TERMS, USDC, type World } from '../../tests/harness/vm/world.ts';

const NAIVE_ID = new PublicKey('5uxzqbcLddH4H9oZpEQ7Xv6bnYBuYFgG3Pa5wEtjPAJw');
export const NAIVE_SO = 'bench/program/naive/artifact/naive_escrow.so';
/** Bytes of the string that a listing has room for. */
const URI_ROOM = 200;

/** Put the program into every VM that is made from now on; a bankrun that runs already keeps the programs it has. */
export function deployNaive(): void {
  if (!PROGRAMS.some(([id]) => id.equals(NAIVE_ID))) PROGRAMS.push([NAIVE_ID, NAIVE_SO]);
}

/** One paid call and the parties to it. */
export interface NaiveCall {
  terms: OpenTerms;
  caller: Keypair;
  creator: Keypair;
  listing: PublicKey;
  keyId: Uint8Array;
}

const find = (...seeds: (Uint8Array | string)[]): PublicKey =>
  PublicKey.findProgramAddressSync(
    seeds.map((seed) => Buffer.from(seed)),
    NAIVE_ID,
  )[0];
const CONFIG = find('config');
const TREASURY = find('treasury');

/** Settings and treasury, as `world` has them. */
export function writeNaiveMarket(w: World): void {
  const { admin, relay, usdcMint } = w;
  const keys = [admin.publicKey, relay.publicKey, usdcMint, TREASURY].map((key) => key.toBytes());
  const { maxTimeoutSeconds, disputeWindowSeconds, exposureMultiple, feeBps } = w.configInput();
  const times = [maxTimeoutSeconds, GRACE, disputeWindowSeconds, exposureMultiple].map((value) => le(4, value));
  write(w, CONFIG, 'Config', [...keys, le(2, feeBps), ...times, le(1, 0)]);
  w.vm.setTokenAccount(TREASURY, { mint: usdcMint, owner: CONFIG });
}

/** A creator's listing and collateral, and a caller's grant for one API key. The caller still has to approve. */
export function writeNaiveCall(w: World, caller: Keypair, creator: Keypair, terms: OpenTerms): NaiveCall {
  const { listingId, keyId } = w;
  const listing = find('listing', creator.publicKey.toBytes(), listingId);
  w.vm.setWallet(creator.publicKey, w.usdcMint, 0n);
  const uri = Buffer.alloc(URI_ROOM);
  uri.write(TERMS.metadataUri);
  write(w, listing, 'AgentListing', [
    creator.publicKey.toBytes(),
    listingId,
    w.signingKey.publicKey.toBytes(),
    le(8, PRICE),
    ...[TERMS.timeoutSeconds, TERMS.minTimeoutSeconds, 1].map((value) => le(4, value)),
    le(1, 0),
    le(2, TERMS.tagMask),
    TERMS.metadataHash,
    le(8, w.vm.now),
    le(4, TERMS.metadataUri.length),
    uri,
  ]);
  const book = [10n * USDC, 0n, 0n, 0n].map((value) => le(8, value));
  write(w, find('collateral', listing.toBytes()), 'CreatorCollateral', [listing.toBytes(), ...book]);
  const { limits } = w.grantInput();
  const { perExecutionMax, periodMax, totalMax, periodSeconds, expiresAt } = limits;
  write(w, findGrant(caller, keyId), 'KeyGrant', [
    caller.publicKey.toBytes(),
    keyId,
    le(1, 0),
    ...[perExecutionMax, periodMax, totalMax].map((value) => le(8, value)),
    le(4, periodSeconds),
    ...[expiresAt, w.vm.now, w.vm.now, 0n, 0n, 0n].map((value) => le(8, value)),
  ]);
  return { terms, caller, creator, listing, keyId };
}

/** Lets the program's delegate of the wallet spend. Signs: caller. */
export function naiveApprove(w: World, { caller }: NaiveCall): TransactionInstruction {
  return createApproveInstruction(w.wallet(caller), findSpender(caller), caller.publicKey, 500n * USDC);
}

/** Signs: relay, who pays. */
export function naiveOpen(w: World, { terms, caller, listing, keyId }: NaiveCall): TransactionInstruction {
  const record = find('execution', terms.executionId);
  const args = [
    terms.nonce,
    terms.executionId,
    le(8, terms.maxPrice),
    ...[terms.listingVersion, terms.timeoutSeconds].map((value) => le(4, value)),
    terms.requestHash,
    le(8, terms.openBefore),
  ];
  const accounts = [
    signer(w.relay),
    { ...signer(w.relay), isWritable: true },
    read(CONFIG),
    read(listing),
    written(find('collateral', listing.toBytes())),
    read(caller.publicKey),
    written(findGrant(caller, keyId)),
    read(findSpender(caller)),
    written(record),
    written(w.wallet(record)),
    written(w.wallet(caller)),
    read(w.usdcMint),
    read(TOKEN_PROGRAM_ID),
    read(ASSOCIATED_TOKEN_PROGRAM_ID),
    read(SystemProgram.programId),
  ];
  return instruction('open', accounts, args);
}

/** With the result's signature before it. Signs: relay. */
export function naiveSettle(w: World, { terms, creator, listing }: NaiveCall): TransactionInstruction[] {
  const record = find('execution', terms.executionId);
  const accounts = [
    signer(w.relay),
    read(CONFIG),
    written(record),
    read(listing),
    read(creator.publicKey),
    written(w.wallet(record)),
    written(w.wallet(creator)),
    written(TREASURY),
    written(w.relay.publicKey),
    read(w.usdcMint),
    read(SYSVAR_INSTRUCTIONS_PUBKEY),
    read(TOKEN_PROGRAM_ID),
  ];
  const message = resultMessage(RESULT_HASH);
  const signature = nacl.sign.detached(message, w.signingKey.secretKey);
  const publicKey = w.signingKey.publicKey.toBytes();
  const proof = Ed25519Program.createInstructionWithPublicKey({ publicKey, message, signature });
  return [proof, instruction('settle', accounts, [RESULT_HASH, le(4, 1_250)])];
}

/** Signs: relay. */
export function naiveRefund(w: World, { terms, caller, keyId }: NaiveCall): TransactionInstruction {
  const record = find('execution', terms.executionId);
  const accounts = [
    signer(w.relay),
    read(CONFIG),
    written(record),
    read(caller.publicKey),
    written(w.wallet(record)),
    written(w.wallet(caller)),
    written(findGrant(caller, keyId)),
    written(w.relay.publicKey),
    read(w.usdcMint),
    read(TOKEN_PROGRAM_ID),
  ];
  return instruction('refund', accounts, [le(1, 0)]);
}

const findGrant = (caller: Keypair, keyId: Uint8Array) => find('grant', caller.publicKey.toBytes(), keyId);
const findSpender = (caller: Keypair) => find('spender', caller.publicKey.toBytes());

const read = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: false });
const written = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: true });
const signer = ({ publicKey }: Keypair): AccountMeta => ({ pubkey: publicKey, isSigner: true, isWritable: false });

function instruction(name: string, keys: AccountMeta[], args: Uint8Array[]): TransactionInstruction {
  const data = Buffer.concat([discriminator(`global:${name}`), ...args]);
  return new TransactionInstruction({ programId: NAIVE_ID, keys, data });
}

function write(w: World, address: PublicKey, name: string, fields: Uint8Array[]): void {
  const data = Buffer.concat([discriminator(`account:${name}`), ...fields]);
  w.vm.setAccount(address, { lamports: w.vm.rent(data.length), owner: NAIVE_ID, data });
}

/** Anchor's mark of an instruction or account. */
function discriminator(name: string): Buffer {
  return createHash('sha256').update(name).digest().subarray(0, 8);
}

/** A number of so many bytes, little-endian. */
function le(bytes: number, value: number | bigint): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer.subarray(0, bytes);
}
