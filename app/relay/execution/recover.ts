// After a crash or a lost disk: the journal's unfinished rows are carried on by the engine itself; here are the
// records that the chain holds and the journal does not know.

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
import type { Engine } from './engine.ts';

/** How often unfinished rows that nobody works on are looked for: two statements in our own file. */
const RECOVERY_INTERVAL_MS = 500;
/** How often ended rows are proven: a few calls to the node for up to 99 of them. */
const PROVING_INTERVAL_MS = 10_000;

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
 * a parked row: it is refunded once its deadline has passed. Returns how many there were.
 */
export async function adoptOrphans(chain: RelayChain, journal: Journal, log: Logger): Promise<number> {
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

/** Carry on unfinished rows and prove ended ones, now and again and again; the returned function ends it. */
export function startRecovery(engine: Pick<Engine, 'recover' | 'proveEnds'>, log: Logger): () => void {
  const ends = [
    repeat(RECOVERY_INTERVAL_MS, engine.recover, (error) =>
      log.error({ error }, 'recovery failed; it will be tried again'),
    ),
    repeat(PROVING_INTERVAL_MS, engine.proveEnds, (error) =>
      log.warn({ error }, 'ended executions could not be proven'),
    ),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** Now and from then on, never twice at once. */
function repeat(everyMs: number, run: () => Promise<void>, onError: (error: string) => void): () => void {
  let running = false;
  const look = async () => {
    if (running) return;
    running = true;
    await run()
      .catch((error) => onError(String(error)))
      .finally(() => {
        running = false;
      });
  };
  look();
  const timer = setInterval(look, everyMs);
  return () => clearInterval(timer);
}
