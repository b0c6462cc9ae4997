/** Records that the chain holds and the journal does not know, as after a lost disk. */
import bs58 from 'bs58';
import type { Logger } from 'pino';
import {
  accountDiscriminator,
  decodeAccount,
  type ExecutionRecord,
  PROGRAM_ID,
  RECORD_OFFSETS,
  RECORD_STATUS_BYTE,
} from '../../sdk/program/program.ts';
import { formatUuid } from '../../sdk/receipt/receipt.ts';
import type { RelayChain } from '../chain/relayChain.ts';
import type { ClaimedExecution } from '../ledger/claims.ts';
import type { Journal } from '../ledger/journal.ts';

/** The row of a record whose request is lost. */
export function toRow(record: ExecutionRecord): ClaimedExecution {
  return {
    execution_id: formatUuid(record.executionId),
    wallet: record.caller.toBase58(),
    key_id: Buffer.from(record.keyId).toString('hex'),
    listing: record.listing.toBase58(),
    listing_version: BigInt(record.listingVersion),
    // What was asked is lost; only its hash is on the chain.
    metadata_hash: '',
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

/**
 * Find all open records whose rent we paid and whose row is missing, or says that they were never opened, and give each
 * a parked row: it is refunded once its deadline has passed. Returns how many there were. Throws where the node does not
 * answer.
 */
export async function adoptOrphans(
  chain: Pick<RelayChain, 'connection' | 'authority'>,
  journal: Pick<Journal, 'adopt'>,
  log: Logger,
): Promise<number> {
  const equal = (offset: number, bytes: Uint8Array) => ({ memcmp: { offset, bytes: bs58.encode(bytes) } });
  const found = await chain.connection.getProgramAccounts(PROGRAM_ID, {
    commitment: 'confirmed',
    filters: [
      equal(0, accountDiscriminator('ExecutionRecord')),
      equal(RECORD_OFFSETS.status, Uint8Array.of(RECORD_STATUS_BYTE.open)),
      equal(RECORD_OFFSETS.rentSponsor, chain.authority.toBytes()),
    ],
  });
  let adopted = 0;
  for (const { account } of found) {
    const record = decodeAccount('ExecutionRecord', account.data);
    const row = toRow(record);
    if (!(await journal.adopt(row, record, Date.now()))) continue;
    log.warn({ execution_id: row.execution_id }, 'an open record without a row will be refunded after its deadline');
    adopted += 1;
  }
  return adopted;
}
