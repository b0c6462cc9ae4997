/**
 * Keeps a result that comes after its deadline. The caller has its money back and the creator is not paid. The record
 * of the late answer is evidence for those who ask why.
 */
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Journal } from '../ledger/journal.ts';
import { dropLateAnswers } from '../ledger/lateAnswers.ts';
import type { JournalRow, LedgerTables } from '../ledger/tables.ts';
import type { Body } from '../longBytes.ts';
import { judgeAnswer } from '../outbound/verify.ts';

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Stores an answer if it is a valid result of this execution. Never throws, because it changes no outcome. */
export type KeepLate = (
  row: Pick<JournalRow, 'execution_id' | 'listing' | 'request_hash'>,
  signingKey: Uint8Array,
  body: Body,
) => Promise<void>;

export function createKeepLate(
  journal: Pick<Journal, 'storeLateAnswer'>,
  ledger: Kysely<LedgerTables>,
  log: Logger,
): KeepLate {
  return async (row, signingKey, body) => {
    const { execution_id, listing } = row;
    try {
      const { verdict } = await judgeAnswer(body, {
        executionId: execution_id,
        signingKey,
        requestHash: row.request_hash,
      });
      if (verdict.kind !== 'completed') return;
      log.warn({ execution_id, listing, result_hash: verdict.resultHash }, 'the creator answered late');
      const now = Date.now();
      await journal.storeLateAnswer({
        execution_id,
        result: Buffer.from(verdict.result),
        result_hash: verdict.resultHash,
        signature: verdict.signature,
        execution_signature: verdict.executionSignature,
        received_ms: BigInt(now),
      });
      await dropLateAnswers(ledger, now - KEPT_MS);
    } catch (error) {
      log.error({ execution_id, error }, 'cannot store a late answer');
    }
  };
}
