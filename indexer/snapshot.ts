/** Writes what was read of a transaction's accounts, and what its instructions did to those that are gone by now. */
import type { Transaction } from 'kysely';
import { REFUND_REASONS } from '../app/sdk/program/program.ts';
import { formatUuid } from '../app/sdk/receipt/receipt.ts';
import type { AccountRows, GoneAccount } from './accounts.ts';
import { hex, optionalHex } from './columns.ts';
import type { Position } from './handlers/handler.ts';
import { settledAmounts } from './rows.ts';
import type { ExecutionRow, IndexDatabase } from './tables.ts';
import {
  changeDispute,
  changeExecution,
  changeGrant,
  endExecution,
  MissingRow,
  tellUnread,
  writeArchive,
  writeConfig,
  writeCreator,
  writeDispute,
  writeExecution,
  writeGrant,
  writeListing,
  writeUnread,
} from './write.ts';

type Db = Transaction<IndexDatabase>;
/** The reason of a record's refund, at this time; null where the transaction refunded nothing of it. */
type ReasonOf = (record: string, refundedAt: bigint, refundAt: bigint) => bigint | null;

const EXPIRED = BigInt(REFUND_REASONS.indexOf('expired'));

export async function writeSnapshot(db: Db, snapshot: AccountRows, at: Position): Promise<void> {
  // The relays as they were known before this snapshot, which may be from a later time.
  const known = await db.selectFrom('configs').select('relay_authorities').executeTakeFirst();
  const relays = known?.relay_authorities ?? snapshot.configs[0]?.relay_authorities ?? '';
  const reasonOf: ReasonOf = (record, refundedAt, refundAt) => {
    const refund = snapshot.refunds.find((candidate) => candidate.record === record);
    if (!refund) return null;
    // The program takes a reason from a relay only, and before `refund_at` only a relay can refund; anybody else's
    // refund is an expiry.
    return relays.includes(`"${refund.authority}"`) || refundedAt < refundAt ? refund.reason : EXPIRED;
  };
  for (const row of snapshot.configs) await writeConfig(db, row);
  for (const row of snapshot.creators) await writeCreator(db, row);
  for (const row of snapshot.listings) await writeListing(db, row);
  for (const row of snapshot.grants) await writeGrant(db, row);
  for (const row of snapshot.executions) {
    const refundedAt = row.status === 'refunded' ? row.settled_at : null;
    const reason = refundedAt === null ? null : reasonOf(row.record, refundedAt, row.refund_at);
    await writeExecution(db, { ...row, reason });
  }
  for (const row of snapshot.disputes) {
    const executionId = await executionOf(db, row.record);
    if (executionId !== null) await writeDispute(db, { ...row, execution_id: executionId });
    else await writeUnread(db, { address: row.dispute, slot: row.slot });
  }
  for (const row of snapshot.archives) await writeArchive(db, row);
  for (const gone of snapshot.gone) await passOverGone(db, at.slot, () => writeGone(db, gone, at, reasonOf));
}

/** Once the accounts have been read, one without a row is gone: nothing is left to make a row of. */
export async function passOverGone(db: Db, slot: bigint, write: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof MissingRow)) throw error;
      await writeUnread(db, { address: error.address, slot });
    }
  }
}

/** What an instruction did to an account that cannot be read any more, as far as the instruction itself tells. */
function writeGone(db: Db, gone: GoneAccount, at: Position, reasonOf: ReasonOf): Promise<void> {
  if (gone.kind === 'grant') return writeGoneGrant(db, gone, at);
  return gone.kind === 'record' ? writeGoneRecord(db, gone, at, reasonOf) : writeGoneDispute(db, gone, at);
}

async function writeGoneGrant(db: Db, { instruction, address }: GoneAccount, { slot }: Position): Promise<void> {
  if (instruction === 'close_grant') await changeGrant(db, address, { revoked: 1n, closed: 1n, slot });
  else await writeUnread(db, { address, slot });
}

async function writeGoneRecord(db: Db, gone: GoneAccount, at: Position, reasonOf: ReasonOf): Promise<void> {
  const { instruction, address, args, time } = gone;
  const { slot } = at;
  const known = await db.selectFrom('executions').selectAll().where('record', '=', address).executeTakeFirst();
  const openedAt = known?.opened_at ?? 0n;
  // A slot's time may be a second off the clock that the program read.
  const settledAt = time > openedAt ? time : openedAt;
  switch (instruction) {
    case 'settle_execution':
      return endExecution(db, address, at, null, {
        status: 'completed',
        result_hash: hex(args.resultHash as Uint8Array),
        execution_time_ms: BigInt(args.executionTimeMs as number),
        settled_at: settledAt,
        ...(known && settledAmounts(known.price, known.fee_bps)),
      });
    case 'refund_execution': {
      const reason = reasonOf(address, settledAt, known?.refund_at ?? 0n);
      return endExecution(db, address, at, reason, { status: 'refunded', settled_at: settledAt });
    }
    case 'open_dispute':
      return changeExecution(db, address, { status: 'disputed', dispute_count: 1n, slot });
    case 'resolve_dispute':
      return changeExecution(db, address, { status: args.upheld ? 'dispute_upheld' : 'completed', slot });
    case 'lapse_dispute':
      return changeExecution(db, address, { status: 'completed', slot });
    case 'close_execution':
      return changeExecution(db, address, { closed: 1n, slot });
    default:
      await writeUnread(db, { address, slot });
      return tellUnread(db, address, {
        execution_id: formatUuid(args.executionId as Uint8Array),
        open_signature: at.signature,
        opened_slot: slot,
      });
  }
}

/** A dispute that is gone owes nothing and holds no bond. */
async function writeGoneDispute(db: Db, gone: GoneAccount, { slot }: Position): Promise<void> {
  const { instruction, address, args, time } = gone;
  switch (instruction) {
    case 'open_dispute': {
      const { record = '', payer = '' } = gone.accounts;
      const columns = ['execution_id', 'listing', 'caller'] as const;
      const query = db.selectFrom('executions').select(columns).where('record', '=', record);
      const execution = await query.executeTakeFirst();
      if (!execution) return writeUnread(db, { address, slot });
      return writeDispute(db, {
        dispute: address,
        record,
        ...execution,
        evidence_hash: hex(args.evidenceHash as Uint8Array),
        evidence_uri: args.evidenceUri as string,
        reason_hash: null,
        outcome: 'open',
        bond: 0n,
        amount_to_caller: 0n,
        amount_to_treasury: 0n,
        owed: 0n,
        opened_at: time,
        resolved_at: null,
        closed: 0n,
        rent_sponsor: payer,
        slot,
      });
    }
    case 'resolve_dispute': {
      const amount = args.amount as bigint;
      const price = await priceOf(db, address);
      const beyond = amount > price ? amount - price : 0n;
      return changeDispute(db, address, {
        outcome: args.upheld ? 'upheld' : 'rejected',
        amount_to_caller: amount - beyond,
        amount_to_treasury: beyond,
        reason_hash: optionalHex(args.reasonHash as Uint8Array),
        resolved_at: time,
        owed: 0n,
        bond: 0n,
        slot,
      });
    }
    case 'lapse_dispute':
      return changeDispute(db, address, { outcome: 'lapsed', resolved_at: time, bond: 0n, slot });
    case 'claim_dispute_award':
      return changeDispute(db, address, { owed: 0n, slot });
    default:
      return changeDispute(db, address, { closed: 1n, slot });
  }
}

/** The id of a record's execution, which the accounts of disputes do not keep. The record may be gone before its dispute. */
async function executionOf(db: Db, record: string): Promise<string | null> {
  const read = await db.selectFrom('executions').select('execution_id').where('record', '=', record).executeTakeFirst();
  if (read) return read.execution_id;
  const unread = db.selectFrom('unread_accounts').select('execution_id').where('address', '=', record);
  return (await unread.executeTakeFirst())?.execution_id ?? null;
}

/** Of a dispute's execution; 0 where neither is known, when nothing is written either. */
async function priceOf(db: Db, dispute: string): Promise<ExecutionRow['price']> {
  const disputed = db.selectFrom('disputes').select('execution_id').where('dispute', '=', dispute);
  const query = db.selectFrom('executions').select('price').where('execution_id', '=', disputed);
  return (await query.executeTakeFirst())?.price ?? 0n;
}
