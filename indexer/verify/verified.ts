/** The tables whose rows show accounts: the address of each account, and the row expected from it. */
import { PublicKey } from '@solana/web3.js';
import type { Kysely } from 'kysely';
import { type Accounts, decodeAccount, findCollateral, findCreator } from '../../app/sdk/program/program.ts';
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
import { STORED, type StoredName } from '../apply/stored.ts';
import { recordStatus } from '../queries/record.ts';
import type { ExecutionStatusName, IndexDatabase } from '../queries/tables.ts';

/** One value in which index and chain differ. Without a column, the whole row or account differs. */
export interface Difference {
  table: string;
  /** Key of the row. */
  key: string;
  column: string | null;
  index: string | null;
  chain: string | null;
}

type Row = Record<string, unknown>;

export interface Verified {
  name: StoredName;
  /** Rows whose accounts fit one request. */
  rowsAtOnce: number;
  /** The account's name, if every such account must have a row. */
  account: keyof Accounts | null;
  /** Reads the key from the account, if the key is not its address; and the number of bytes needed. */
  keyIn?(data: Uint8Array): string;
  addressLength?: number;
  keyOf(row: Row): string;
  accountsOf(row: Row): PublicKey[];
  /** The columns that follow from the accounts. Null if a row shows no account. */
  expected: ((addresses: readonly PublicKey[], data: readonly Buffer[]) => Row) | null;
  /** Columns that no account holds. */
  elsewhere: readonly string[];
  /** The row as its account shows it. */
  shown(row: Row): Row;
}

/** Limit of getMultipleAccounts. */
const ACCOUNTS_PER_CALL = 100;
/** `slot` is the slot at which the row was made. */
const ALWAYS_ELSEWHERE = ['slot', 'closed'];

function verified<Name extends keyof Accounts>(
  name: StoredName,
  account: Name | null,
  rowOf: ((address: PublicKey, account: Accounts[Name], slot: bigint) => object) | null,
  options: Partial<Verified> = {},
): Verified {
  const { key } = STORED[name];
  return {
    name,
    account,
    expected: account && rowOf && (([at], [data]) => asRow(rowOf(at!, decodeAccount(account, data!), 0n))),
    rowsAtOnce: ACCOUNTS_PER_CALL,
    keyOf: (row) => String(row[key]),
    accountsOf: (row) => [new PublicKey(String(row[key]))],
    shown: (row) => row,
    ...options,
    elsewhere: [...ALWAYS_ELSEWHERE, ...(options.elsewhere ?? [])],
  };
}

const asRow = (row: object): Row => row as Row;
/** Offset of the profile's wallet: after the discriminator and three 1-byte fields. */
const CREATOR_AT = 11;
const CREATOR_END = CREATOR_AT + 32;

export const VERIFIED: readonly Verified[] = [
  verified('configs', 'Config', configRow),
  verified('creators', 'CreatorProfile', (_, account, slot) => creatorRow(account, slot), {
    accountsOf: ({ wallet }) => [findCreator(new PublicKey(String(wallet)))],
    keyIn: (data) => new PublicKey(data.subarray(CREATOR_AT, CREATOR_END)).toBase58(),
    addressLength: CREATOR_END,
  }),
  verified('listings', 'AgentListing', null, {
    rowsAtOnce: ACCOUNTS_PER_CALL / 2,
    accountsOf({ listing }) {
      const address = new PublicKey(String(listing));
      return [address, findCollateral(address)];
    },
    expected: ([at], [listing, collateral]) =>
      asRow(
        listingRow(at!, decodeAccount('AgentListing', listing!), decodeAccount('CreatorCollateral', collateral!), 0n),
      ),
  }),
  verified('grants', 'KeyGrant', grantRow),
  verified('executions', 'ExecutionRecord', executionRow, {
    // A record does not show its dispute; verifyRows.ts compares the two.
    shown: (row) => ({ ...row, status: recordStatus(row.status as ExecutionStatusName) }),
    elsewhere: [
      'reason',
      'dispute_count',
      'open_signature',
      'opened_slot',
      'open_index',
      'listing_timeout_seconds',
      'end_signature',
      'deposit',
    ],
  }),
  verified('deposits', 'Deposit', depositRow, {
    elsewhere: ['status', 'ended_at', 'end_signature'],
  }),
  verified('disputes', 'Dispute', (address, account, slot) => disputeRow(address, account, null, slot), {
    // The account shows the paid bond only while the dispute is open.
    elsewhere: ['evidence_uri', 'bond_paid'],
  }),
  verified('archives', 'Archive', archiveRow),
  verified('unread_accounts', null, null),
];

/** The rows of these keys, or the next rows after one key. */
export async function readPage(
  db: Kysely<IndexDatabase>,
  { name, rowsAtOnce }: Verified,
  which: string | readonly string[],
): Promise<Row[]> {
  const key = STORED[name].key as 'slot';
  const query = db.selectFrom(name as 'configs').selectAll();
  const chosen =
    typeof which === 'string'
      ? query
          .where(key, '>', which as never)
          .orderBy(key)
          .limit(rowsAtOnce)
      : query.where(key, 'in', which as never);
  return (await chosen.execute()) as unknown as Row[];
}
