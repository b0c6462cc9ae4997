/** Changed receipts and changed archive proofs, for each implementation of the checks. */
import { Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { RECORD_OFFSETS } from '../../app/sdk/program/accounts.ts';
import { executionMessage, hashResult, requestHash, signMessage } from '../../app/sdk/receipt/receipt.ts';
import type { CheckName } from '../../app/sdk/receipt/verify.ts';
import type { Receipt } from '../../app/sdk/wire/receipt.ts';
import { changing } from '../harness/node/rpcProxy.ts';
import { treeOf } from '../program/archiving.ts';

export type Proof = NonNullable<Receipt['archive']>;

const stranger = Keypair.generate().publicKey.toBase58();
const key = Keypair.generate();
const transaction = bs58.encode(Buffer.alloc(64, 5));

/** Changes of a receipt, with the checks that fail and those that stay unknown. */
export const RECEIPT_CHANGES: [
  what: string,
  (given: Receipt) => Partial<Receipt>,
  failed: CheckName[],
  unknown?: CheckName[],
][] = [
  ['genesis_hash', () => ({ genesis_hash: stranger }), ['genesis_hash']],
  ['agent_id', () => ({ agent_id: stranger }), ['record', 'opening', 'settlement']],
  ['caller', () => ({ caller: stranger }), ['record']],
  [
    'another creator, who signed everything anew',
    (given) => {
      const parts = [given.program_id, given.execution_id, given.request_hash, given.result_hash] as const;
      return {
        signing_key: key.publicKey.toBase58(),
        signature: signMessage(key.secretKey, given.result_hash),
        execution_signature: signMessage(key.secretKey, executionMessage(...parts)),
      };
    },
    ['record', 'signing_key', 'settlement'],
  ],
  [
    'another request, hashed anew',
    () => ({ task: 'x', parameters: {}, request_hash: Buffer.from(requestHash('x')).toString('hex') }),
    ['execution_signature', 'record', 'opening'],
  ],
  [
    'another result, hashed anew',
    () => ({ result: 'x', result_hash: hashResult('x') }),
    ['signature', 'execution_signature', 'record', 'settlement'],
  ],
  ['price_usdc', () => ({ price_usdc: 0.250001 }), ['record', 'settlement']],
  ['fee_bps', () => ({ fee_bps: 99 }), ['record', 'settlement']],
  ['opened_at', () => ({ opened_at: '2020-01-01T00:00:00.000Z' }), ['record']],
  ['settled_at', () => ({ settled_at: '2020-01-01T00:00:00.500Z' }), ['record']],
  [
    'opened_at, by less than a millisecond',
    ({ opened_at }) => ({ opened_at: opened_at.replace('.000Z', '.0001Z') }),
    ['record'],
  ],
  [
    'transactions that are each other',
    ({ transactions: { open, settle } }) => ({ transactions: { open: settle, settle: open } }),
    ['opening', 'settlement'],
  ],
  [
    'transactions that nobody has',
    () => ({ transactions: { open: transaction, settle: transaction } }),
    [],
    ['opening', 'settlement'],
  ],
  ['transactions that are not named, which are found', () => ({ transactions: { open: null, settle: null } }), []],
];

export const flipped = (hex: string): string => (hex.startsWith('0') ? '1' : '0') + hex.slice(1);

/** These fields of a record, with another price. */
export function dearer(fields: string): string {
  const data = Buffer.from(fields, 'base64');
  data[RECORD_OFFSETS.price - 8]! ^= 1;
  return data.toString('base64');
}
const shortened = (fields: string) => Buffer.from(fields, 'base64').subarray(0, -1).toString('base64');

/** Changes of an archive proof. Only the check of the record fails. */
export const PROOF_CHANGES: [what: string, (given: Proof, of: Receipt) => Partial<Proof>][] = [
  ['archive', ({ tree }) => ({ archive: tree })],
  ['tree', ({ archive }) => ({ tree: archive })],
  ['leaf_index', ({ leaf_index }) => ({ leaf_index: leaf_index ^ 1 })],
  ['leaf_index, beyond the leaves of the tree', () => ({ leaf_index: 2 ** 20 - 1 })],
  ['record', ({ archive }) => ({ record: archive })],
  ['fields', ({ fields }) => ({ fields: dearer(fields) })],
  ['fields that end early', ({ fields }) => ({ fields: shortened(fields) })],
  ['leaf', ({ leaf }) => ({ leaf: flipped(leaf) })],
  ['proof', ({ proof }) => ({ proof: [flipped(proof[0]!), ...proof.slice(1)] })],
  ['root', ({ root }) => ({ root: flipped(root) })],
  ['transaction', (_, { transactions }) => ({ transaction: transactions.settle! })],
];

/** A record's proofs in a tree that grows past its first block of 1,024 leaves, and the tree's data in between. */
export async function grownProofs(record: string, given: Proof) {
  const tree = await treeOf(new PublicKey(record), Buffer.from(given.fields, 'base64'));
  const proofAt = async (count: number): Promise<Proof> => {
    await tree.grow(count);
    return { ...given, ...tree.proof() };
  };
  const [first, soon, growing] = [await proofAt(1), await proofAt(100), await tree.treeData()];
  const [early, full, late] = [await proofAt(1_020), await proofAt(1_024), await proofAt(1_104)];
  return { first, soon, growing, early, full, late, grown: await tree.treeData() };
}

/** A node that shows other data of an account. */
export const showsData = (address: string, data: Buffer) =>
  changing('getAccountInfo', (result, [asked]) =>
    asked === address ? { ...result, value: { ...result.value, data: [data.toString('base64'), 'base64'] } } : result,
  );
