/**
 * The amounts of a dispute whose decision was not in the log, and whose account no longer exists. The index shows what
 * follows from the instruction and the listing's row, or nothing.
 */
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { sql } from 'kysely';
import { MIGRATIONS, migrate } from '../../app/database/migrate.ts';
import { openDatabase } from '../../app/database/open.ts';
import { applyBatch, type ChainTransaction } from '../../indexer/apply/apply.ts';
import { type GoneAccount, noRows } from '../../indexer/apply/readings.ts';
import type { IndexDatabase, ListingRow } from '../../indexer/queries/tables.ts';
import { event } from './histories.ts';

const PRICE = 300n;
const at = (byte: number) => new PublicKey(new Uint8Array(32).fill(byte));
const [listing, record, dispute, caller] = [1, 2, 3, 4].map(at) as [PublicKey, PublicKey, PublicKey, PublicKey];
const ids = { listing, record, dispute, caller, executionId: new Uint8Array(16).fill(5) };

function openIndex() {
  const opened = openDatabase<IndexDatabase>(':memory:');
  migrate(opened.sqlite, MIGRATIONS.index);
  return opened;
}

interface Case {
  amount: bigint;
  /** The collateral in the row before the decision, and its slot. */
  deposited?: bigint;
  slashed?: bigint;
  slot?: bigint;
  isOnlyChange?: boolean;
  /** False if the index does not have the execution, nor its price. */
  hasExecution?: boolean;
  /** The slot of a transaction that could not be read. */
  gap?: bigint;
}

describe('indexer, decisions that only an instruction shows', () => {
  async function amountsOf(decided: Case) {
    const {
      amount,
      deposited = 1_000n,
      slashed = 900n,
      slot = 4n,
      isOnlyChange = true,
      hasExecution = true,
      gap,
    } = decided;
    const opened = openIndex();
    const { db } = opened;
    const add = (events: ReturnType<typeof event>[]): ChainTransaction['content'] => ({ kind: 'events', events });
    const opening = [
      event('ExecutionOpened', { ...ids, price: PRICE }),
      event('ExecutionSettled', { ...ids, settledAt: 2n }),
    ];
    const disputing = event('DisputeOpened', { ...ids, bond: 9n, openedAt: 3n });
    await applyBatch(db, [
      {
        signature: 'listed',
        slot: 1n,
        content: add([event('AgentListed', { listing, price: PRICE, listingVersion: 1 })]),
      },
      { signature: 'disputed', slot: 2n, content: add([...(hasExecution ? opening : []), disputing]) },
    ]);
    await db.updateTable('listings').set({ deposited, slashed, slot }).execute();
    if (gap !== undefined)
      await applyBatch(db, [
        { signature: 'unread', slot: gap, content: { kind: 'unreadable', reason: 'version 9', archives: [] } },
      ]);
    const [row] = (await sql<ListingRow>`SELECT * FROM listings`.execute(db)).rows;
    const gone: GoneAccount = {
      kind: 'dispute',
      address: dispute.toBase58(),
      instruction: 'resolve_dispute',
      accounts: { dispute: dispute.toBase58(), listing: listing.toBase58(), collateral: 'collateral' },
      args: { upheld: amount > 0n, amount, reasonHash: new Uint8Array(32) },
      isOnlyChange,
      time: 5n,
    };
    // The account is read later: all collateral has been slashed.
    const listings = [{ ...row!, slashed: deposited, slot: 90n }];
    const content: ChainTransaction['content'] = {
      kind: 'accounts',
      snapshot: { ...noRows(), listings, gone: [gone] },
      carried: [],
    };
    await applyBatch(db, [{ signature: 'decided', slot: 5n, content }]);
    const found = await sql<
      Record<string, unknown>
    >`SELECT outcome, amount_to_caller, amount_slashed FROM disputes`.execute(db);
    const left = await sql<ListingRow>`SELECT slashed, slot FROM listings`.execute(db);
    expect(left.rows[0]).to.deep.equal({ slashed: deposited, slot: 90n });
    await opened.close();
    const { outcome, amount_to_caller, amount_slashed } = found.rows[0]!;
    expect(outcome).to.equal(amount > 0n ? 'upheld' : 'rejected');
    return [amount_to_caller, amount_slashed];
  }

  it('shows what the collateral still had, and that forfeits paid the rest', async () => {
    expect(await amountsOf({ amount: 250n })).to.deep.equal([250n, 100n]);
    expect(await amountsOf({ amount: 300n, slashed: 1_000n })).to.deep.equal([300n, 0n]);
    expect(await amountsOf({ amount: 250n, slashed: 0n })).to.deep.equal([250n, 250n]);
  });

  it('shows the whole amount if it is more than the price: no forfeit pays for that', async () => {
    expect(await amountsOf({ amount: 900n, slot: 5n, isOnlyChange: false })).to.deep.equal([PRICE, 900n]);
    expect(await amountsOf({ amount: 0n, slot: 5n, hasExecution: false })).to.deep.equal([0n, 0n]);
  });

  it('shows no amount that nothing proves', async () => {
    // The listing was read at a later time, or another instruction changed its collateral in the same transaction.
    expect(await amountsOf({ amount: 250n, slot: 5n })).to.deep.equal([250n, null]);
    expect(await amountsOf({ amount: 250n, isOnlyChange: false })).to.deep.equal([250n, null]);
    // A transaction that could not be read may have changed it since.
    expect(await amountsOf({ amount: 250n, gap: 4n })).to.deep.equal([250n, null]);
    expect(await amountsOf({ amount: 250n, gap: 3n })).to.deep.equal([250n, 100n]);
    // Without the price, the caller's part is unknown.
    expect(await amountsOf({ amount: 250n, hasExecution: false })).to.deep.equal([null, 100n]);
    expect(await amountsOf({ amount: 250n, hasExecution: false, slot: 5n })).to.deep.equal([null, null]);
  });
});
