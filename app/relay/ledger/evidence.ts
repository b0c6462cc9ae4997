/** The tables of dispute contents: callers' evidence, creators' replies and the admin's reasons. */
import { type Kysely, sql } from 'kysely';
import type { LedgerDatabase, LedgerTables } from './tables.ts';

type Ledger = Kysely<LedgerTables>;
type Views = Kysely<LedgerDatabase>;

/** SQLite has no OFFSET without a LIMIT. */
const ANY = 2n ** 62n;

/** Limits for files that no dispute names. The oldest are dropped first. */
interface EvidenceLimits {
  /** Files of the posting wallet, and of all wallets. */
  ofWallet: number;
  ofAll: number;
  /** Unix ms; older files are dropped. */
  oldestMs: number;
}

/** Keeps a file. A file that exists gets the new time of receipt and the new media type. */
export async function insertEvidence(ledger: Ledger, row: LedgerTables['evidence']): Promise<void> {
  const { media_type, received_ms } = row;
  await ledger
    .insertInto('evidence')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['execution_id', 'evidence_hash']).doUpdateSet({ media_type, received_ms }),
    )
    .execute();
}

export function readEvidenceRow(views: Views, executionId: string, evidenceHash: string) {
  return views
    .selectFrom('evidence')
    .select(['media_type', 'content'])
    .where('execution_id', '=', executionId)
    .where('evidence_hash', '=', evidenceHash)
    .executeTakeFirst();
}

/** Files that no dispute names and that are too old or too many. */
export async function readUnwanted(views: Views, wallet: string, limits: EvidenceLimits) {
  const unnamed = sql`NOT EXISTS (SELECT 1 FROM chain.disputes AS d
    WHERE d.execution_id = e.execution_id AND d.evidence_hash = e.evidence_hash)`;
  const { rows } = await sql<Pick<LedgerTables['evidence'], 'execution_id' | 'evidence_hash'>>`
    SELECT execution_id, evidence_hash FROM evidence AS e WHERE received_ms < ${BigInt(limits.oldestMs)} AND ${unnamed}
    UNION SELECT execution_id, evidence_hash FROM (
      SELECT execution_id, evidence_hash FROM evidence AS e WHERE wallet = ${wallet} AND ${unnamed}
      ORDER BY received_ms DESC, execution_id DESC, evidence_hash DESC LIMIT ${ANY} OFFSET ${limits.ofWallet}) AS own
    UNION SELECT execution_id, evidence_hash FROM (
      SELECT execution_id, evidence_hash FROM evidence AS e WHERE ${unnamed}
      ORDER BY received_ms DESC, execution_id DESC, evidence_hash DESC LIMIT ${ANY} OFFSET ${limits.ofAll}) AS everybody`.execute(
    views,
  );
  return rows;
}

export async function dropEvidence(
  ledger: Ledger,
  { execution_id, evidence_hash }: Pick<LedgerTables['evidence'], 'execution_id' | 'evidence_hash'>,
): Promise<void> {
  await ledger
    .deleteFrom('evidence')
    .where('execution_id', '=', execution_id)
    .where('evidence_hash', '=', evidence_hash)
    .execute();
}

/** Keeps the creator's reply in place of an earlier one. */
export async function putReply(
  ledger: Ledger,
  row: { execution_id: string; reply: string; received_ms: bigint },
): Promise<void> {
  const { reply, received_ms } = row;
  await ledger
    .insertInto('dispute_replies')
    .values(row)
    .onConflict((conflict) => conflict.column('execution_id').doUpdateSet({ reply, received_ms }))
    .execute();
}

/** Keeps a reason. Drops the execution's reasons from before `oldestMs`, except the one that the dispute names. */
export async function putReason(
  ledger: Ledger,
  row: { execution_id: string; reason_hash: string; reason: string; received_ms: bigint },
  carried: string | null,
  oldestMs: bigint,
): Promise<void> {
  const { execution_id, received_ms } = row;
  await ledger
    .insertInto('dispute_reasons')
    .values(row)
    .onConflict((conflict) => conflict.columns(['execution_id', 'reason_hash']).doUpdateSet({ received_ms }))
    .execute();
  await ledger
    .deleteFrom('dispute_reasons')
    .where('execution_id', '=', execution_id)
    .where('reason_hash', '!=', carried ?? '')
    .where('received_ms', '<', oldestMs)
    .execute();
}
