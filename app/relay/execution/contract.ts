/** What the rooms above ask of the engine, and what it answers them. */
import type { ExecutionRecord } from '../../sdk/program/program.ts';
import type { Agent } from '../agents/catalog.ts';

/** Who is calling: the wallet that pays, and the key that was used. */
export interface Principal {
  wallet: string;
  /** 32 hex digits: names the grant on-chain. */
  keyId: string;
  /** 64 hex digits. */
  keyHash: string;
}

/** A paid call that has passed every check but those of money. */
export interface PaidCall {
  task: string;
  /** As RFC 8785 has them. */
  parameters: string;
  /** Of task and parameters, hex. */
  requestHash: string;
  async: boolean;
  timeoutSeconds: number;
  /** Most that the caller will pay, base units. */
  maxCost: bigint;
  /** When its request came, by `performance.now`: calls that wait go on in this order. */
  arrivedMs: number;
  /** Where the call carries an Idempotency-Key: the nonce of its open, and what it is known by. */
  repeatable?: { nonce: Buffer; fingerprint: string };
}

/** An execution that its wallet opened itself: the record, and what the wallet wants done for it. */
export interface OpenedCall {
  record: ExecutionRecord;
  task: string;
  /** As RFC 8785 has them. */
  parameters: string;
  async: boolean;
  /** Whole seconds until the record's deadline. */
  timeoutSeconds: number;
}

/** `completed` is settled; `pending` is an async call whose open is confirmed; `running` is not known yet. */
export type ExecuteOutcome =
  | {
      kind: 'completed';
      executionId: string;
      /** UTF-8. */
      result: Buffer;
      resultHash: string;
      /** Base units. */
      price: bigint;
      tokensUsed: number | null;
      executionTimeMs: number;
      settleSignature: string;
      resultToken: string;
    }
  | { kind: 'pending'; executionId: string }
  | { kind: 'running'; executionId: string };

/** The engine as its callers see it: throws ApiError for everything that is not an outcome. */
export interface Engine {
  execute(principal: Principal, agent: Agent, call: PaidCall): Promise<ExecuteOutcome>;
  /** Runs an execution whose escrow is funded. */
  start(agent: Agent, call: OpenedCall): Promise<ExecuteOutcome>;
  /** What a call is answered whose execution has ended. */
  outcomeOf(executionId: string): Promise<ExecuteOutcome>;
  /** Executions that this process is working on now. */
  inFlight(): number;
}
