/**
 * Reads accounts and writes their present state, where a transaction's events are not enough.
 * This is needed when its log cannot be trusted, or when no indexed transaction created its accounts. The state read
 * may be later than the transaction; the rows' `slot` records that. The transaction's instructions supply the rest: why
 * a refund was made, which transaction did it, and what is closed by now.
 */
import { type Connection, PublicKey, type VersionedTransactionResponse } from '@solana/web3.js';
import { chunks } from '../../app/process/chunks.ts';
import { type Accounts, accountDiscriminator, decodeAccount, findCollateral } from '../../app/sdk/program/program.ts';
import { type AccountRows, type ClosableKind, claimOf, noRows } from '../apply/readings.ts';
import {
  archiveRow,
  configRow,
  creatorRow,
  depositRow,
  disputeRow,
  executionRow,
  grantRow,
  listingRow,
} from '../apply/rows.ts';
import type { ExecutionRow, ListingRow } from '../queries/tables.ts';
import {
  type Invocation,
  type ProgramInstruction,
  readAddresses,
  readArguments,
  readInvocations,
  readReason,
} from './invocations.ts';

/** Where accounts are read, and the oldest state to accept, if later than the transaction. */
interface AccountSource {
  connection: Connection;
  minSlot?: bigint;
}

/** getMultipleAccounts takes this many addresses. */
const ACCOUNTS_PER_CALL = 100;

/** Accounts with rows. A listing's row also needs its collateral, so a change of either one reads both. */
const ACCOUNT_NAMES = [
  'Config',
  'CreatorProfile',
  'AgentListing',
  'CreatorCollateral',
  'KeyGrant',
  'ExecutionRecord',
  'Deposit',
  'Dispute',
  'Archive',
] as const;

/** Instructions that make, change or close a closable account, with the names of those accounts. */
const CLOSABLE: Record<string, readonly ClosableKind[]> = {
  create_grant: ['grant'],
  close_grant: ['grant'],
  open_execution: ['record'],
  open_execution_with_grant: ['record'],
  prepare_deposit: ['deposit'],
  open_execution_from_deposit: ['record', 'deposit'],
  refund_deposit: ['deposit'],
  settle_execution: ['record'],
  refund_execution: ['record'],
  move_unclaimed_refund: ['record'],
  move_unclaimed_deposit: ['deposit'],
  close_execution: ['record'],
  open_dispute: ['dispute'],
  open_dispute_with_proof: ['dispute'],
  resolve_dispute: ['dispute'],
  lapse_dispute: ['dispute'],
  claim_dispute_award: ['dispute'],
  close_dispute: ['dispute'],
};

/** Instructions after which a listed agent's collateral has another deposit, or more of it is slashed. */
const CHANGES_COLLATERAL: readonly string[] = ['top_up_collateral', 'resolve_dispute'];

/**
 * Reads the state after a transaction: of the accounts that it may have changed, or of all that it names. Throws if the
 * node has not reached the transaction's slot yet. `instructions` are the program's in the transaction.
 */
export async function readAccountRows(
  source: AccountSource,
  programId: PublicKey,
  transaction: VersionedTransactionResponse,
  instructions: readonly ProgramInstruction[],
  which: 'changed' | 'named',
): Promise<AccountRows> {
  const invocations = readInvocations(instructions);
  // An account that is only read cannot change.
  const wanted = readAddresses(transaction).filter(({ writable }) => writable || which === 'named');
  const addresses = wanted.map(({ address }) => address);
  const at = { signature: transaction.transaction.signatures[0]!, slot: transaction.slot };
  const { rows, found } = await readRowsOf(source, programId, addresses, at, invocations);
  rows.gone = await readGone(source.connection, transaction.slot, invocations, found);
  return rows;
}

/** Reads accounts at this slot or later. */
export async function readPresentRows(
  source: AccountSource,
  programId: PublicKey,
  addresses: readonly string[],
  slot: bigint,
): Promise<AccountRows> {
  return (await readRowsOf(source, programId, addresses, { signature: '', slot: Number(slot) }, [])).rows;
}

/**
 * The rows of the program's own accounts among `addresses`, and the addresses found. `invocations` come from the
 * transaction.
 */
async function readRowsOf(
  source: AccountSource,
  programId: PublicKey,
  addresses: readonly string[],
  at: { signature: string; slot: number },
  invocations: Invocation[],
): Promise<{ rows: AccountRows; found: Set<string> }> {
  const rows: AccountRows = { ...noRows(), refunds: readRefunds(invocations) };
  const found = new Set<string>();
  const listings = new Set<string>();
  const addRow = ({ address, data, slot }: ReadAccount) => {
    found.add(address.toBase58());
    const name = ACCOUNT_NAMES.find((candidate) => isAccount(candidate, data));
    if (name === 'Config') rows.configs.push(configRow(address, decodeAccount(name, data), slot));
    else if (name === 'CreatorProfile') rows.creators.push(creatorRow(decodeAccount(name, data), slot));
    else if (name === 'AgentListing') listings.add(address.toBase58());
    else if (name === 'CreatorCollateral') listings.add(decodeAccount(name, data).listing.toBase58());
    else if (name === 'KeyGrant') rows.grants.push(grantRow(address, decodeAccount(name, data), slot));
    else if (name === 'ExecutionRecord') {
      const row = executionRow(address, decodeAccount(name, data), slot);
      rows.executions.push({ ...row, ...readHistory(invocations, row.record, at) });
    } else if (name === 'Deposit') rows.deposits.push(depositRow(address, decodeAccount(name, data), slot));
    else if (name === 'Dispute') {
      const opening = OPEN_DISPUTE.map((by) => findInvocation(invocations, by, 'dispute', address.toBase58())).find(
        (found) => found !== undefined,
      );
      const evidenceUri = opening ? claimOf(readArguments(opening)).evidenceUri : null;
      rows.disputes.push(disputeRow(address, decodeAccount(name, data), evidenceUri, slot));
    } else if (name === 'Archive') rows.archives.push(archiveRow(address, decodeAccount(name, data), slot));
  };
  for await (const account of readAccounts(source, programId, at.slot, addresses)) addRow(account);
  rows.listings.push(...(await readListings(source, at.slot, [...listings])));
  return { rows, found };
}

interface ReadAccount {
  address: PublicKey;
  data: Buffer;
  /** Slot of the reading. */
  slot: bigint;
}

/** The accounts among these addresses that the program owns. */
async function* readAccounts(
  source: AccountSource,
  programId: PublicKey,
  minContextSlot: number,
  addresses: readonly string[],
): AsyncGenerator<ReadAccount> {
  for (const some of chunks(addresses, ACCOUNTS_PER_CALL)) {
    const chunk = some.map((address) => new PublicKey(address));
    const { context, value } = await readAtLeast(source, chunk, minContextSlot);
    for (const [index, account] of value.entries()) {
      if (!account?.owner.equals(programId)) continue;
      yield { address: chunk[index]!, data: account.data, slot: BigInt(context.slot) };
    }
  }
}

/** A listing and its collateral are made together and never closed. One call reads both, at one slot. */
async function readListings(
  source: AccountSource,
  minContextSlot: number,
  listings: readonly string[],
): Promise<ListingRow[]> {
  const rows: ListingRow[] = [];
  for (const some of chunks(listings, ACCOUNTS_PER_CALL / 2)) {
    const addresses = some.map((listing) => new PublicKey(listing));
    const pairs = addresses.flatMap((address) => [address, findCollateral(address)]);
    const { context, value } = await readAtLeast(source, pairs, minContextSlot);
    for (const [index, address] of addresses.entries()) {
      const [account, collateral] = [value[2 * index], value[2 * index + 1]];
      if (!account || !collateral)
        throw new Error(`the node does not have the listing ${some[index]} and its collateral`);
      const held = decodeAccount('CreatorCollateral', collateral.data);
      rows.push(listingRow(address, decodeAccount('AgentListing', account.data), held, BigInt(context.slot)));
    }
  }
  return rows;
}

async function readGone(
  connection: Connection,
  slot: number,
  invocations: Invocation[],
  found: Set<string>,
): Promise<AccountRows['gone']> {
  const gone = invocations.flatMap((invocation) => {
    const closable = (CLOSABLE[invocation.name] ?? []).map((kind) => ({
      kind,
      address: invocation.accounts[kind] ?? '',
    }));
    const missing = closable.filter(({ address }) => !found.has(address));
    const { name: instruction, accounts } = invocation;
    const isOnlyChange = !invocations.some(
      (other) =>
        other !== invocation &&
        CHANGES_COLLATERAL.includes(other.name) &&
        other.accounts.collateral === accounts.collateral,
    );
    const args = readArguments(invocation);
    return missing.map((account) => ({ ...account, instruction, accounts, args, isOnlyChange }));
  });
  if (gone.length === 0) return [];
  // Not the transaction's own blockTime: Surfpool returns it divided by 1,000.
  const time = await connection.getBlockTime(slot);
  if (time === null) throw new Error(`the node does not report the time of slot ${slot}`);
  return gone.map((entry) => ({ ...entry, time: BigInt(time) }));
}

/** `minContextSlot` makes a node that is behind return an error instead of an older state; the caller retries. */
function readAtLeast({ connection, minSlot = 0n }: AccountSource, addresses: PublicKey[], slot: number) {
  const minContextSlot = Math.max(slot, Number(minSlot));
  return connection.getMultipleAccountsInfoAndContext(addresses, { commitment: 'finalized', minContextSlot });
}

function isAccount(name: keyof Accounts, data: Uint8Array): boolean {
  return accountDiscriminator(name).every((byte, at) => data[at] === byte);
}

/** The instructions that refund an execution. */
const REFUNDS = ['refund_execution', 'move_unclaimed_refund'];

function readRefunds(invocations: Invocation[]): AccountRows['refunds'] {
  return invocations.flatMap((invocation) => {
    if (!REFUNDS.includes(invocation.name)) return [];
    const { record = '', authority = '' } = invocation.accounts;
    return [{ record, authority, reason: readReason(invocation) }];
  });
}

/** The instructions that open a dispute. */
const OPEN_DISPUTE = ['open_dispute', 'open_dispute_with_proof'] as const;

/** Signatures, slot and deposit, if the transaction opened or ended this record. */
function readHistory(
  invocations: Invocation[],
  record: string,
  at: { signature: string; slot: number },
): Pick<ExecutionRow, 'open_signature' | 'opened_slot' | 'end_signature' | 'deposit'> {
  const did = (name: string) => findInvocation(invocations, name, 'record', record) !== undefined;
  const paid = findInvocation(invocations, 'open_execution_from_deposit', 'record', record);
  const opened = did('open_execution') || did('open_execution_with_grant') || paid !== undefined;
  const ended = did('settle_execution') || REFUNDS.some(did);
  return {
    open_signature: opened ? at.signature : null,
    opened_slot: opened ? BigInt(at.slot) : null,
    end_signature: ended ? at.signature : null,
    deposit: paid?.accounts.deposit ?? null,
  };
}

function findInvocation(
  invocations: Invocation[],
  name: string,
  account: string,
  address: string,
): Invocation | undefined {
  return invocations.find((invocation) => invocation.name === name && invocation.accounts[account] === address);
}
