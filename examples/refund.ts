/**
 * Sends an overdue execution's money back to its caller, with only the program's IDL. It needs no service, no key of
 * the caller and no permission. The given wallet pays one network fee.
 *
 *   RPC_URL=... npx tsx examples/refund.ts EXECUTION_ID KEYPAIR_FILE
 *
 * WS_URL is needed only if the node's WebSocket port is not the RPC port plus one.
 */
import { readFileSync } from 'node:fs';
import anchor from '@coral-xyz/anchor';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import idl from '../app/sdk/program/idl/marketplace.json' with { type: 'json' };
import type { Marketplace } from '../app/sdk/program/idl/marketplace.ts';

const [executionId, keypairFile] = process.argv.slice(2);
const { RPC_URL, WS_URL } = process.env;
if (!executionId || !keypairFile || !RPC_URL) throw new Error('usage: RPC_URL=... refund.ts EXECUTION_ID KEYPAIR_FILE');

const wallet = new anchor.Wallet(Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(keypairFile, 'utf8')))));
const connection = new Connection(RPC_URL, { commitment: 'finalized', ...(WS_URL && { wsEndpoint: WS_URL }) });
const program = new anchor.Program<Marketplace>(
  idl as Marketplace,
  new anchor.AnchorProvider(connection, wallet, { commitment: 'finalized', preflightCommitment: 'finalized' }),
);

/** Derives an address of the program from a seed in the IDL's constants, and more parts. */
function find(seed: string, ...parts: Uint8Array[]): PublicKey {
  const bytes = Buffer.from(JSON.parse(idl.constants.find(({ name }) => name === seed)!.value));
  return PublicKey.findProgramAddressSync([bytes, ...parts], program.programId)[0];
}

const record = find('EXECUTION_SEED', Buffer.from(executionId.replaceAll('-', ''), 'hex'));
const { price, refundAt } = await program.account.executionRecord.fetch(record);
console.error(`${price} base units, open to anyone from ${new Date(refundAt.toNumber() * 1000).toISOString()} on`);

try {
  const refund = program.methods
    .refundExecution({ reason: { expired: {} }, gasLamports: 0 })
    .accountsPartial({ record });
  console.log(await refund.rpc());
} catch (error) {
  // The last log line has the program's error code. The IDL has its name and message.
  const line = (error as { logs?: string[] }).logs?.at(-1) ?? String(error);
  console.error(String(anchor.translateError(new Error(line), anchor.parseIdlErrors(idl as anchor.Idl))));
  process.exitCode = 1;
}
