/** Records of executions on the chain: who paid for them, the row that they claim, and how to find the open ones. */
import type { GetProgramAccountsFilter } from '@solana/web3.js';
import bs58 from 'bs58';
import {
  accountDiscriminator,
  type ExecutionRecord,
  RECORD_OFFSETS,
  RECORD_STATUS_BYTE,
} from '../../sdk/program/program.ts';
import { formatUuid } from '../../sdk/receipt/receipt.ts';
import type { ClaimedExecution } from '../ledger/claims.ts';

/** True if no key paid for the record: a deposit did, or its wallet opened it, which alone knows if it is to run. */
export function isByWallet({ keyId }: Pick<ExecutionRecord, 'keyId'>): boolean {
  return keyId.every((byte) => byte === 0);
}

/** The row of a record, of whose request the chain has only the hash. */
export function claimOf(record: ExecutionRecord): ClaimedExecution {
  return {
    execution_id: formatUuid(record.executionId),
    wallet: record.caller.toBase58(),
    key_id: Buffer.from(record.keyId).toString('hex'),
    listing: record.listing.toBase58(),
    listing_version: BigInt(record.listingVersion),
    metadata_hash: '',
    // The wallet chose it; the relay never needs it.
    nonce: '',
    fingerprint: null,
    price: record.price,
    max_cost: record.price,
    timeout_seconds: record.deadline - record.openedAt,
    listing_timeout_seconds: null,
    task: '',
    parameters: '{}',
    accepted_at: record.openedAt,
    request_hash: Buffer.from(record.requestHash).toString('hex'),
  };
}

const equal = (offset: number, bytes: Uint8Array) => ({ memcmp: { offset, bytes: bs58.encode(bytes) } });

/** For `getProgramAccounts`. */
export const OPEN_RECORDS: GetProgramAccountsFilter[] = [
  equal(0, accountDiscriminator('ExecutionRecord')),
  equal(RECORD_OFFSETS.status, Uint8Array.of(RECORD_STATUS_BYTE.open)),
];
