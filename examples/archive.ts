/**
 * Proves an archived execution with any Solana node, the program's IDL and SPL Account Compression 0.2.1. The service's
 * answer need not be trusted.
 *
 *   RPC_URL=... npx tsx examples/archive.ts EXECUTION_ID https://the.marketplace
 */
import { createRequire } from 'node:module';
import anchor from '@coral-xyz/anchor';
import { Connection, PublicKey } from '@solana/web3.js';
import idl from '../app/sdk/program/idl/marketplace.json' with { type: 'json' };

// The package's entry for ES modules is a CommonJS file, whose names Node does not find.
const spl: typeof import('@solana/spl-account-compression') = createRequire(import.meta.url)(
  '@solana/spl-account-compression',
);

const [executionId, service] = process.argv.slice(2);
const { RPC_URL } = process.env;
if (!executionId || !service || !RPC_URL) throw new Error('usage: RPC_URL=... archive.ts EXECUTION_ID URL');

/** The bytes of a constant of the program. */
function constant(name: string): Buffer {
  return Buffer.from(JSON.parse(idl.constants.find((candidate) => candidate.name === name)!.value));
}
const find = (...seeds: Buffer[]) => PublicKey.findProgramAddressSync(seeds, new PublicKey(idl.address))[0];

const answer = await fetch(`${service}/v1/executions/${executionId}/archive`);
if (!answer.ok) throw new Error(`${service} answers ${answer.status}: ${await answer.text()}`);
const given = (await answer.json()) as { archive_index: number; leaf_index: number; fields: string; proof: string[] };

// The leaf hashes the record's address, which is derived from the execution id, and the record's fields: the first as
// they are, and the hash of the rest.
const id = Buffer.from(executionId.replaceAll('-', ''), 'hex');
const fields = Buffer.from(given.fields, 'base64');
const record = find(constant('EXECUTION_SEED'), id);
const headBytes = Number(idl.constants.find(({ name }) => name === 'RECORD_HEAD_BYTES')!.value);
const head = Buffer.concat([constant('ARCHIVE_LEAF_DOMAIN'), record.toBytes(), fields.subarray(0, headBytes)]);
const rest = spl.hash(fields.subarray(headBytes), Buffer.alloc(0));
const leaf = Buffer.from(spl.hash(head, Buffer.from(rest)));

// The root is that of the archive's tree. Both accounts are read from the chain.
const index = Buffer.alloc(2);
index.writeUInt16LE(given.archive_index);
const connection = new Connection(RPC_URL, 'finalized');
const archive = await connection.getAccountInfo(find(constant('ARCHIVE_SEED'), index));
const { tree: address } = new anchor.BorshAccountsCoder(idl as anchor.Idl).decode('Archive', archive!.data);
const tree = await spl.ConcurrentMerkleTreeAccount.fromAccountAddress(connection, address);
const root = tree.getCurrentRoot();

const proof = given.proof.map((node) => Buffer.from(node, 'hex'));
const isProven = spl.MerkleTree.verify(root, { leafIndex: given.leaf_index, leaf, root, proof });
if (!isProven || proof.length !== tree.getMaxDepth()) throw new Error(`${address} does not hold this execution`);

const execution = new anchor.BorshCoder(idl as anchor.Idl).types.decode('ExecutionRecord', fields);
console.log(
  `leaf ${given.leaf_index} of ${address}: ${execution.price} base units, ${JSON.stringify(execution.status)}`,
);
