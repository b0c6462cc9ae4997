/** Rows of index.db and ledger.db as the indexer and the engine would write them. */
import { randomBytes } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Insertable, Kysely } from 'kysely';
import { describe } from '../../../app/relay/agents/words.ts';
import { insertDocument } from '../../../app/relay/ledger/metadata.ts';
import type { LedgerDatabase, LedgerTables } from '../../../app/relay/ledger/tables.ts';
import { PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { createApiKey, hashApiKey, keyIdOfHash } from '../../../app/sdk/receipt/apiKey.ts';
import { hashMetadata } from '../../../app/sdk/receipt/metadataHash.ts';
import { formatUuid, hashResult, requestHash, signResult } from '../../../app/sdk/receipt/receipt.ts';
import { type AgentMetadata, encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import type {
  DisputeRow,
  ExecutionRow,
  IndexDatabase,
  ListingRow,
  UnclaimedRefundRow,
} from '../../../indexer/queries/tables.ts';

/** The arbitrary time from which test rows count, unix seconds. */
export const EPOCH = 1_760_000_000;

/** Of no key: to make one takes a millisecond. */
export const newAddress = (): string => bs58.encode(randomBytes(32));
export const newExecutionId = (): string => formatUuid(randomBytes(16));
/** A signature. */
export const newTransaction = (): string => bs58.encode(randomBytes(64));
const newHash = (): string => randomBytes(32).toString('hex');

export interface TestKey {
  wallet: string;
  apiKey: string;
  keyHash: string;
  keyId: string;
}

export interface SettledCall {
  task: string;
  parameters: object;
  result: string;
  signer?: Keypair;
}

export function metadataOf(changes: Partial<AgentMetadata> = {}): AgentMetadata {
  return {
    name: 'csv-analyst',
    tagline: 'Answers one SQL question about a CSV file.',
    description: 'Reads a file and answers a question.',
    display_name: 'Ada Analytics',
    custom_tags: [],
    input_schema: { type: 'object', properties: {} },
    output_schema: { type: 'string' },
    endpoint: 'http://127.0.0.1:9/execute',
    ...changes,
  };
}

/** Writes rows with default values, which a test can override. */
export function createRows(index: Kysely<IndexDatabase>, ledger: Kysely<LedgerTables>, state: { nowMs: number }) {
  /** A row of chain.listings and its document, as after POST /v1/metadata and AgentListed. */
  async function addListing(
    changes: Partial<ListingRow> = {},
    metadata: Partial<AgentMetadata> | null = {},
  ): Promise<string> {
    const bytes = encodeMetadata(metadataOf(metadata ?? {}));
    const row: ListingRow = {
      listing: newAddress(),
      creator: newAddress(),
      listing_id: randomBytes(16).toString('hex'),
      signing_key: newAddress(),
      payout: newAddress(),
      price: 250_000n,
      timeout_seconds: 60n,
      min_timeout_seconds: 1n,
      tag_mask: 1n << 4n,
      status: 'active',
      listing_version: 1n,
      metadata_hash: hashMetadata(bytes),
      metadata_uri: '',
      deposited: 5_000_000n,
      slashed: 0n,
      forfeited: 0n,
      listed_at: BigInt(EPOCH),
      returnable_at: null,
      collateral_returned: 0n,
      slot: 10n,
      ...changes,
    };
    await index.insertInto('listings').values(row).execute();
    if (metadata !== null) await addDocument(bytes);
    return row.listing;
  }

  async function addDocument(bytes: Uint8Array, receivedMs = state.nowMs): Promise<void> {
    const document = new TextDecoder().decode(bytes);
    await insertDocument(ledger, { metadata_hash: hashMetadata(bytes), document, ...describe(document), receivedMs });
  }

  /** A valid API key: its row, and its grant in the index. */
  async function addKey(
    changes: { wallet?: string; revoked?: 0n | 1n; expiresAt?: number; indexed?: boolean; scopes?: string } = {},
  ): Promise<TestKey> {
    const apiKey = createApiKey('test');
    const keyHash = hashApiKey(apiKey);
    const key = { wallet: changes.wallet ?? newAddress(), apiKey, keyHash, keyId: keyIdOfHash(keyHash) };
    await ledger
      .insertInto('api_keys')
      .values({
        key_hash: keyHash,
        key_id: key.keyId,
        wallet: key.wallet,
        name: 'laptop',
        created_ms: BigInt(EPOCH * 1000),
        last_used_ms: null,
        revoked_ms: null,
        ...(changes.scopes && { scopes: changes.scopes }),
      })
      .execute();
    if (changes.indexed === false) return key;
    await index
      .insertInto('grants')
      .values({
        grant_address: newAddress(),
        wallet: key.wallet,
        key_id: key.keyId,
        expires_at: BigInt(changes.expiresAt ?? EPOCH + 1000),
        created_at: BigInt(EPOCH),
        revoked: changes.revoked ?? 0n,
        closed: 0n,
        execution_count: 4n,
        total_spent: '1250000',
        slot: 10n,
      })
      .execute();
    return key;
  }

  /** A record as the indexer writes it; settled by default. */
  async function addRecord(changes: Partial<ExecutionRow> & { caller: string; listing: string }): Promise<string> {
    const row: ExecutionRow = {
      execution_id: newExecutionId(),
      record: newAddress(),
      signing_key: newAddress(),
      key_id: null,
      rent_sponsor: newAddress(),
      price: 250_000n,
      fee_bps: 100n,
      listing_version: 1n,
      request_hash: newHash(),
      result_hash: newHash(),
      status: 'completed',
      reason: null,
      creator_amount: 247_500n,
      platform_amount: 2_500n,
      execution_time_ms: 40n,
      opened_at: BigInt(EPOCH),
      deadline: BigInt(EPOCH + 60),
      refund_at: BigInt(EPOCH + 660),
      settled_at: BigInt(EPOCH + 2),
      dispute_window_seconds: 259_200n,
      dispute_count: 0n,
      open_signature: null,
      opened_slot: null,
      open_index: null,
      listing_timeout_seconds: null,
      end_signature: null,
      closed: 0n,
      gas_lamports: 10_000n,
      spender_lends_escrow: 0n,
      deposit: null,
      slot: 20n,
      ...changes,
    };
    await index.insertInto('executions').values(row).execute();
    return row.execution_id;
  }

  /** A row of the journal, with the columns that its state implies. */
  async function addJournal(
    changes: Partial<Insertable<LedgerTables['executions']>> & {
      wallet: string;
      listing: string;
      state: LedgerTables['executions']['state'];
    },
  ): Promise<string> {
    const row: Insertable<LedgerDatabase['executions']> = {
      execution_id: newExecutionId(),
      key_id: randomBytes(16).toString('hex'),
      listing_version: 1n,
      metadata_hash: newHash(),
      nonce: randomBytes(16).toString('hex'),
      price: 250_000n,
      max_cost: 250_000n,
      timeout_seconds: 60n,
      task: 'a task',
      parameters: '{}',
      request_hash: newHash(),
      created_ms: BigInt(EPOCH * 1000 - 300),
      accepted_at: BigInt(EPOCH - 1),
      open_before: null,
      opened_at: BigInt(EPOCH),
      refund_at: BigInt(EPOCH + 660),
      dispatched_ms: null,
      execution_time_ms: null,
      refund_reason: null,
      refund_state: null,
      settled_at: null,
      creator_amount: null,
      platform_amount: null,
      error_code: null,
      error_message: null,
      rebuilds: 0n,
      ...changes,
    };
    await ledger.insertInto('executions').values(row).execute();
    return row.execution_id;
  }

  /** A signed transaction of an execution, the first of its kind. Returns its signature. */
  async function addTransaction(
    execution_id: string,
    kind: LedgerTables['transactions']['kind'],
    changes: Partial<Insertable<LedgerTables['transactions']> & Insertable<LedgerTables['signed_transactions']>> = {},
  ): Promise<string> {
    const { bytes = Buffer.from([1]), last_valid_height = 100n, signature = newTransaction(), ...others } = changes;
    const fee = 5_000n;
    const row = { execution_id, kind, attempt: 0n, fee, outcome: null, ...others, signature };
    const signed = { signature, last_valid_height, fee, bytes };
    await ledger
      .insertInto('signed_transactions')
      .values(signed)
      .onConflict((on) => on.doNothing())
      .execute();
    await ledger.insertInto('transactions').values(row).execute();
    return signature;
  }

  async function addResult(
    executionId: string,
    result: string,
    changes: Partial<Insertable<LedgerTables['results']>> = {},
  ): Promise<string> {
    const token = randomBytes(24).toString('base64url');
    await ledger
      .insertInto('results')
      .values({
        execution_id: executionId,
        result: Buffer.from(result, 'utf8'),
        size: BigInt(Buffer.byteLength(result)),
        result_hash: hashResult(result),
        signature: 'ed25519:1',
        execution_signature: null,
        tokens_used: 42n,
        steps: '[{"step":"read"}]',
        execution_time_ms: 40n,
        token,
        verified_ms: BigInt(EPOCH * 1000),
        ...changes,
      })
      .execute();
    return token;
  }

  /** A settled execution of a request, in journal and index, with its signed result. */
  async function addSettled(
    { wallet, listing }: { wallet: string; listing: string },
    { task, parameters, result, signer = Keypair.generate() }: SettledCall,
    changes: Partial<ExecutionRow> = {},
  ) {
    const result_hash = hashResult(result);
    const request_hash = Buffer.from(requestHash(task, parameters)).toString('hex');
    const ended = { request_hash, settled_at: BigInt(EPOCH + 3) };
    const request = { task, parameters: JSON.stringify(parameters), creator_amount: 247_500n, platform_amount: 2_500n };
    const execution_id = await addJournal({ wallet, listing, state: 'settled', ...ended, ...request });
    const settle = await addTransaction(execution_id, 'settle', { attempt: 1n, outcome: 'landed' });
    const hashes = { result_hash: result_hash.slice('sha256:'.length), signing_key: signer.publicKey.toBase58() };
    await addRecord({ execution_id, caller: wallet, listing, ...ended, ...hashes, ...changes });
    await addResult(execution_id, result, { signature: signResult(signer.secretKey, result_hash) });
    return { execution_id, settle, request_hash };
  }

  /** An open dispute of a record, as the indexer writes it. */
  async function addDispute(changes: Partial<DisputeRow> & { execution_id: string; caller: string; listing: string }) {
    const row: DisputeRow = {
      dispute: newAddress(),
      record: newAddress(),
      evidence_hash: newHash(),
      evidence_uri: '',
      reason_hash: null,
      outcome: 'open',
      bond: 10_000_000n,
      bond_paid: 10_000_000n,
      amount_to_caller: 0n,
      amount_slashed: 0n,
      owed: 0n,
      opened_at: BigInt(EPOCH + 100),
      resolved_at: null,
      closed: 0n,
      slot: 30n,
      ...changes,
    };
    await index.insertInto('disputes').values(row).execute();
    return row;
  }

  /** The chain and the program that the index has read. */
  async function addChain(genesis_hash = newAddress()): Promise<void> {
    const row = { id: 1n, genesis_hash, program_id: PROGRAM_ID.toBase58() };
    await index.insertInto('chain_meta').values(row).execute();
  }

  /** How far the indexer has read, and when it checked the chain last. */
  async function setProgress(slot: bigint, checkedMs = state.nowMs): Promise<void> {
    const read = { slot, checked_at: BigInt(checkedMs) };
    const row = index.insertInto('progress').values({ id: 1n, ...read });
    await row.onConflict((conflict) => conflict.column('id').doUpdateSet(read)).execute();
  }

  /** The marketplace's configuration with this admin. */
  async function addConfig(admin: string, relayAuthorities: string[]): Promise<void> {
    await index
      .insertInto('configs')
      .values({
        config: 'config',
        admin,
        relay_authorities: JSON.stringify(relayAuthorities),
        record_seconds: 3_600n,
        slot: 1n,
      })
      .execute();
  }

  /** An unclaimed refund whose tree nobody builds. Returns its key. */
  async function addUnclaimed(changes: Partial<UnclaimedRefundRow> & { source: string }): Promise<string> {
    const row: UnclaimedRefundRow = {
      claim: newAddress(),
      tree: newAddress(),
      leaf_index: 0n,
      leaf: newHash(),
      caller: newAddress(),
      amount: 250_000n,
      unclaimed_at: 1n,
      signature: 'a signature',
      claimed_at: null,
      slot: 20n,
      ...changes,
    };
    await index.insertInto('unclaimed_refunds').values(row).execute();
    return row.claim;
  }

  return {
    ...{ addChain, addConfig, addDispute, addListing, addDocument, addKey, addRecord, addUnclaimed, setProgress },
    ...{ addJournal, addTransaction, addResult, addSettled },
  };
}
