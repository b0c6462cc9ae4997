/** The REST client's methods that read executions, their proofs, and statements. */
import * as z from 'zod';
import { Receipt } from '../wire/receipt.ts';
import {
  DailyStatement,
  ExecutionArchive,
  ExecutionFull,
  ExecutionPage,
  SpendStatement,
  type StatementRole,
  UnclaimedProofs,
} from '../wire/wire.ts';
import type { Reading } from './answer.ts';
import { type ReadOptions, toQuery } from './http.ts';

/** Filters of GET /v1/executions; `from` and `to` are ISO 8601 with a zone, exclusive. */
export type ExecutionFilters = Partial<{
  limit: number;
  offset: number;
  status: string;
  agent_id: string;
  idempotency_key: string;
  from: string;
  to: string;
}>;

export type StatementFilters = Partial<{ role: StatementRole; from: string; to: string }>;

/** Also accepts answers of older relays: no signatures of the creator, no archive, no deletion. */
const ReadExecution = z.strictObject({
  ...ExecutionFull.shape,
  signature: ExecutionFull.shape.signature.default(null),
  execution_signature: ExecutionFull.shape.execution_signature.default(null),
  archive: ExecutionFull.shape.archive.default(null),
  content_deleted_at: ExecutionFull.shape.content_deleted_at.default(null),
  deposit: ExecutionFull.shape.deposit.default(null),
  unclaimed: ExecutionFull.shape.unclaimed.default(null),
});

export function createRecordMethods({ get }: Reading) {
  return {
    getExecution: (executionId: string, options?: ReadOptions) =>
      get(ReadExecution, `/v1/executions/${encodeURIComponent(executionId)}`, options),
    listExecutions: (filters: ExecutionFilters = {}, options?: ReadOptions) =>
      get(ExecutionPage, `/v1/executions${toQuery(filters)}`, options),
    /** The receipt, which proves to anyone that a settled execution was answered and paid. For its caller only. */
    getReceipt: (executionId: string, options?: ReadOptions) =>
      get(Receipt, `/v1/executions/${encodeURIComponent(executionId)}/receipt`, options),
    /** The proof of an archived execution; needs no key. */
    getExecutionArchive: (executionId: string, options?: ReadOptions) =>
      get(ExecutionArchive, `/v1/executions/${encodeURIComponent(executionId)}/archive`, options),
    /** The unclaimed refunds of an execution's record or a deposit, by its address, with their proofs; needs no key. */
    getUnclaimed: (source: string, options?: ReadOptions) =>
      get(UnclaimedProofs, `/v1/unclaimed/${encodeURIComponent(source)}`, options),
    /** What the wallet paid or earned by the day; `from` and `to` are UTC days such as 2026-01-31, inclusive. */
    getDailyStatement: (filters: StatementFilters = {}, options?: ReadOptions) =>
      get(DailyStatement, `/v1/statements/daily${toQuery(filters)}`, options),
    /** What the wallet paid by the UTC day, the API key and the agent. */
    getSpend: (filters: Omit<StatementFilters, 'role'> = {}, options?: ReadOptions) =>
      get(SpendStatement, `/v1/statements/spend${toQuery(filters)}`, options),
  };
}
