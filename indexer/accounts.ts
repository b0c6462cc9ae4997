/**
 * The way out when a transaction's log cannot be trusted, or is about accounts that no transaction before it made: the
 * accounts are read and their present state is written instead. That state may already be later than the transaction,
 * which the rows' slot remembers. What accounts do not keep (why a refund was made, which transaction did what, what is
 * closed by now) is in the transaction's own instructions.
 */
import { type Connection, PublicKey, type VersionedTransactionResponse } from '@solana/web3.js';
import { chunks } from '../app/process/chunks.ts';
import { type Accounts, accountDiscriminator, decodeAccount, findCollateral } from '../app/sdk/program/program.ts';
import { type Invocation, readAddresses, readArguments, readInvocations, readReason } from './invocations.ts';
import { archiveRow, configRow, creatorRow, disputeRow, executionRow, grantRow, listingRow } from './rows.ts';
import type { ArchiveRow, ConfigRow, CreatorRow, DisputeRow, ExecutionRow, GrantRow, ListingRow } from './tables.ts';

/** The rows of a transaction's accounts, each as it is at its slot. */
export interface AccountRows {
  configs: ConfigRow[];
  creators: CreatorRow[];
  listings: ListingRow[];
  grants: GrantRow[];
  executions: ExecutionRow[];
  /** Whose execution_id is to be found by the record. */
  disputes: Omit<DisputeRow, 'execution_id'>[];
  archives: ArchiveRow[];
  /** Refunds in the transaction: the reason counts only if the authority is the relay. */
  refunds: { record: string; authority: string; reason: bigint }[];
  /** What the transaction did to accounts that are gone by now, in its order. */
  gone: GoneAccount[];
  /** Slots of the readings that the chain may still drop, where they were not made at finality. */
  provisionalAt: Set<bigint>;
}

/** Where accounts are read, and how final they must be. */
export interface AccountSource {
  connection: Connection;
  commitment: 'confirmed' | 'finalized';
}

/** Is told at which slot each reading was made. */
type Source = AccountSource & { onRead(slot: bigint): void };

/** An account that an instruction made or changed, and that is not there any more. */
export interface GoneAccount {
  kind: ClosableKind;
  address: string;
  /** The instruction by its name in the IDL, with its accounts and arguments. */
  instruction: string;
  accounts: Record<string, string>;
  args: Record<string, unknown>;
  /** The transaction's, unix seconds. */
  time: bigint;
}

type ClosableKind = 'grant' | 'record' | 'dispute';

/** getMultipleAccounts takes this many addresses. */
const ACCOUNTS_PER_CALL = 100;

/** The accounts that rows are made of; a listing's row also needs its collateral, and either of the two asks for it. */
const ACCOUNT_NAMES = [
  'Config',
  'CreatorProfile',
  'AgentListing',
  'CreatorCollateral',
  'KeyGrant',
  'ExecutionRecord',
  'Dispute',
  'Archive',
] as const;

/** Instructions that make, change or close what can be closed, and which of their accounts that is. */
const CLOSABLE: Record<string, readonly ClosableKind[]> = {
  create_grant: ['grant'],
  close_grant: ['grant'],
  open_execution: ['record'],
  open_execution_with_grant: ['record'],
  settle_execution: ['record'],
  refund_execution: ['record'],
  close_execution: ['record'],
  open_dispute: ['record', 'dispute'],
  resolve_dispute: ['record', 'dispute'],
  lapse_dispute: ['record', 'dispute'],
  claim_dispute_award: ['dispute'],
  close_dispute: ['dispute'],
};

/**
 * Reads the state after a transaction: of the accounts that it may have changed, or of all that it names. Throws where the
 * node has not reached its slot yet.
 */
export async function readAccountRows(
  source: AccountSource,
  programId: PublicKey,
  transaction: VersionedTransactionResponse,
  which: 'changed' | 'named',
): Promise<AccountRows> {
  const signature = transaction.transaction.signatures[0]!;
  const invocations = readInvocations(transaction, programId);
  const rows: AccountRows = {
    configs: [],
    creators: [],
    listings: [],
    grants: [],
    executions: [],
    disputes: [],
    archives: [],
    refunds: readRefunds(invocations),
    gone: [],
    provisionalAt: new Set(),
  };
  const node: Source = {
    ...source,
    onRead: (slot) => void (source.commitment === 'confirmed' && rows.provisionalAt.add(slot)),
  };
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
      rows.executions.push({ ...row, ...readHistory(invocations, row.record, { signature, slot: transaction.slot }) });
    } else if (name === 'Dispute') {
      const opening = findInvocation(invocations, 'open_dispute', 'dispute', address.toBase58());
      const evidenceUri = opening ? (readArguments(opening).evidenceUri as string) : null;
      rows.disputes.push(disputeRow(address, decodeAccount(name, data), evidenceUri, slot));
    } else if (name === 'Archive') rows.archives.push(archiveRow(address, decodeAccount(name, data), slot));
  };
  // What is only read cannot have changed.
  const wanted = readAddresses(transaction).filter(({ writable }) => writable || which === 'named');
  const read = (addresses: string[]) => readAccounts(node, programId, transaction.slot, addresses);
  for await (const account of read(wanted.map(({ address }) => address))) addRow(account);
  // A dispute's row takes its execution's id from the record, which not every instruction about a dispute may write.
  const records = rows.disputes.map(({ record }) => record).filter((record) => !found.has(record));
  for await (const account of read(records)) addRow(account);
  for (const listing of listings) rows.listings.push(await readListing(node, transaction.slot, listing));
  rows.gone = await readGone(node.connection, transaction.slot, invocations, found);
  return rows;
}

interface ReadAccount {
  address: PublicKey;
  data: Buffer;
  /** At which it was read. */
  slot: bigint;
}

/** The program's own among the addresses given. */
async function* readAccounts(
  node: Source,
  programId: PublicKey,
  minContextSlot: number,
  addresses: readonly string[],
): AsyncGenerator<ReadAccount> {
  for (const some of chunks(addresses, ACCOUNTS_PER_CALL)) {
    const chunk = some.map((address) => new PublicKey(address));
    const { context, value } = await readAtLeast(node, chunk, minContextSlot);
    for (const [index, account] of value.entries()) {
      if (!account?.owner.equals(programId)) continue;
      yield { address: chunk[index]!, data: account.data, slot: BigInt(context.slot) };
    }
  }
}

/** A listing and its collateral are made together and never closed; one call reads both at one slot. */
async function readListing(node: Source, minContextSlot: number, listing: string): Promise<ListingRow> {
  const address = new PublicKey(listing);
  const { context, value } = await readAtLeast(node, [address, findCollateral(address)], minContextSlot);
  const [account, collateral] = value;
  if (!account || !collateral) throw new Error(`the node does not have the listing ${listing} and its collateral`);
  const held = decodeAccount('CreatorCollateral', collateral.data);
  return listingRow(address, decodeAccount('AgentListing', account.data), held, BigInt(context.slot));
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
    return missing.map((account) => ({ ...account, instruction, accounts, args: readArguments(invocation) }));
  });
  if (gone.length === 0) return [];
  // Not the transaction's own blockTime: Surfpool gives a thousandth of it.
  const time = await connection.getBlockTime(slot);
  if (time === null) throw new Error(`the node does not say when slot ${slot} was`);
  return gone.map((entry) => ({ ...entry, time: BigInt(time) }));
}

/** A node that has not seen the transaction's slot yet must not answer with an older state: it errs, and we try again. */
async function readAtLeast({ connection, commitment, onRead }: Source, addresses: PublicKey[], minContextSlot: number) {
  const read = await connection.getMultipleAccountsInfoAndContext(addresses, { commitment, minContextSlot });
  onRead(BigInt(read.context.slot));
  return read;
}

function isAccount(name: keyof Accounts, data: Uint8Array): boolean {
  return accountDiscriminator(name).every((byte, at) => data[at] === byte);
}

function readRefunds(invocations: Invocation[]): AccountRows['refunds'] {
  return invocations.flatMap((invocation) => {
    if (invocation.name !== 'refund_execution') return [];
    const { record = '', authority = '' } = invocation.accounts;
    return [{ record, authority, reason: readReason(invocation) }];
  });
}

/** Whether the transaction opened or ended a record. */
function readHistory(
  invocations: Invocation[],
  record: string,
  at: { signature: string; slot: number },
): Pick<ExecutionRow, 'open_signature' | 'opened_slot' | 'end_signature'> {
  const did = (name: string) => findInvocation(invocations, name, 'record', record) !== undefined;
  const opened = did('open_execution') || did('open_execution_with_grant');
  const ended = did('settle_execution') || did('refund_execution');
  return {
    open_signature: opened ? at.signature : null,
    opened_slot: opened ? BigInt(at.slot) : null,
    end_signature: ended ? at.signature : null,
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
