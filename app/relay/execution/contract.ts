/** The contract between the engine and the modules that call it. */
import type { ExecutionRecord } from '../../sdk/program/program.ts';
import type { Agent } from '../agents/catalog.ts';

/** The caller: the wallet that pays, and the key that was used. */
export interface Principal {
  wallet: string;
  /** 32 hex digits; names the grant on-chain. */
  keyId: string;
  /** 64 hex digits. */
  keyHash: string;
  /** Listings that the key may call, base58; null for all. */
  allowedAgents: readonly string[] | null;
}

/** Receives the deltas of a creator's answer before anything of it is verified. */
export interface OutputStream {
  /** The escrow is funded, and the creator is called now. */
  begun(executionId: string): void;
  /** Resolves when the caller can take the next one. */
  delta(text: string): Promise<void>;
}

/** A paid call that has passed every check except those of money. */
export interface PaidCall {
  task: string;
  /** Canonical JSON by RFC 8785. */
  parameters: string;
  /** Hash of task and parameters, hex. */
  requestHash: string;
  async: boolean;
  timeoutSeconds: number;
  /** Most that the caller will pay, base units. */
  maxCost: bigint;
  /** Arrival of the request by `performance.now`; waiting calls go on in this order. */
  arrivedMs: number;
  /** Set if the call has an Idempotency-Key: the last 12 bytes of its nonce, and the fingerprint of the request. */
  repeatable?: { tail: Buffer; fingerprint: string };
  /** Set if the caller wants the deltas. */
  output?: OutputStream;
}

/** An execution that the wallet opened itself: the record and the request. */
export interface OpenedCall {
  record: ExecutionRecord;
  task: string;
  /** Canonical JSON by RFC 8785. */
  parameters: string;
  async: boolean;
  /** Whole seconds until the record's deadline. */
  timeoutSeconds: number;
  output?: OutputStream;
}

/** A call that an x402 client pays for, with its payment. Everything is checked except the state of the chain. */
export interface DepositCall
  extends Pick<PaidCall, 'task' | 'parameters' | 'requestHash' | 'async' | 'timeoutSeconds'> {
  /** The wallet that pays, base58. */
  payer: string;
  /** SHA-256 of agent and canonical body, hex. */
  fingerprint: string;
  /** 16 bytes; makes the execution's id, together with the payer. */
  nonce: Buffer;
  /** Address of the deposit. `namesPayer` is true if it commits to the payer. */
  deposit: string;
  namesPayer: boolean;
  /** Paid in addition to the price, base units. */
  serviceFee: bigint;
  /** The client's own id of the payment; null without one. */
  paymentId: string | null;
  /** The payment, signed by its payer alone, and the last block height at which it can land. */
  payment: Buffer;
  lastValidHeight: bigint;
  /**
   * Called once the deposit's transaction is stored. The promise resolves when the payment has arrived, to false, or
   * certainly will not, to true. That may be long after the answer.
   */
  prepared(isUnpaid: Promise<boolean>): void;
}

/** `completed` is settled, `pending` is an async call with a final open, and `running` is undecided. */
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

/** The engine as its callers see it. It throws ApiError for everything that is not an outcome. */
export interface Engine {
  execute(principal: Principal, agent: Agent, call: PaidCall): Promise<ExecuteOutcome>;
  /** Takes the payment into a deposit, opens the execution from it, and runs it. */
  buy(agent: Agent, call: DepositCall): Promise<ExecuteOutcome>;
  /** Runs an execution with a funded escrow. */
  start(agent: Agent, call: OpenedCall): Promise<ExecuteOutcome>;
  /** The answer for an execution that has ended. */
  outcomeOf(executionId: string): Promise<ExecuteOutcome>;
  /** Executions that this process is working on now. */
  inFlight(): number;
}
