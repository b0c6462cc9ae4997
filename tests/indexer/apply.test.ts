/**
 * How batches are stored in the index, tested with random histories. However a history is split into batches,
 * every table matches the chain, and the statistics match the rows they count.
 */
import { expect } from 'chai';
import { sql } from 'kysely';
import { MIGRATIONS, migrate } from '../../app/database/migrate.ts';
import { openDatabase } from '../../app/database/open.ts';
import { openPostgres, SCHEMAS } from '../../app/database/postgres.ts';
import { unclaimedOf } from '../../app/sdk/program/archive.ts';
import { findRefundClaim } from '../../app/sdk/program/program.ts';
import { readWrongAgents } from '../../indexer/apply/agents.ts';
import { applyBatch, type ChainTransaction, CursorMoved } from '../../indexer/apply/apply.ts';
import type { IndexDatabase } from '../../indexer/queries/tables.ts';
import { freshPostgres, onPostgres } from '../harness/postgres.ts';
import { randomHistory, randomOf } from './histories.ts';

const HISTORIES = onPostgres ? 3 : 6;
const LENGTH = 160;

/** All tables that follow from the chain, each with its sort order. */
const TABLES: Record<string, string> = {
  cursor: 'id',
  configs: 'config',
  creators: 'wallet',
  listings: 'listing',
  grants: 'grant_address',
  executions: 'execution_id',
  disputes: 'dispute',
  archives: 'archive',
  archive_leaves: 'tree, leaf_index',
  unclaimed_refunds: 'claim',
  unread_accounts: 'address',
  events: 'slot, signature, event_index',
  eventless_transactions: 'slot, signature',
  agent_statistics: 'listing',
  caller_totals: 'caller, listing, status, day',
  agent_days: 'listing, day, outcome, reason, time_ms',
};

/** Closes what a test opened. */
const closings: (() => unknown)[] = [];

/** A fresh index in memory or on PostgreSQL. */
async function openOwn() {
  const opened = onPostgres
    ? openPostgres<IndexDatabase>(await freshPostgres(), { schema: SCHEMAS.index })
    : openMemory();
  closings.push(() => opened.close());
  const rows = async (text: string) => (await sql.raw<Record<string, unknown>>(text).execute(opened.db)).rows;
  const dump = async () => {
    const tables: Record<string, Record<string, unknown>[]> = {};
    for (const [table, order] of Object.entries(TABLES))
      tables[table] = await rows(`SELECT * FROM ${table} ORDER BY ${order}`);
    return tables;
  };
  return { ...opened, rows, dump };
}

function openMemory() {
  const opened = openDatabase<IndexDatabase>(':memory:');
  migrate(opened.sqlite, MIGRATIONS.index);
  return opened;
}

type Opened = Awaited<ReturnType<typeof openOwn>>;

/** Applies the history in batches of random sizes. */
async function apply({ db }: Opened, history: readonly ChainTransaction[], random: (below: number) => number) {
  for (let start = 0; start < history.length; ) {
    const end = start + 1 + random(30);
    await applyBatch(db, history.slice(start, end));
    start = end;
  }
}

const opens = ({ content }: ChainTransaction): boolean =>
  content.kind === 'events' && content.events.some(({ name }) => name === 'ExecutionOpened');

/** The execution that was opened last. */
function newestOf({ db }: Opened) {
  const newest = db.selectFrom('executions').selectAll().orderBy('opened_slot', 'desc').orderBy('open_index', 'desc');
  return newest.executeTakeFirstOrThrow();
}

/** The statistics as one query over all executions computes them, from the view that lists may also read. */
const STATISTICS = `SELECT listing,
  sum(CASE WHEN outcome <> 'refunded' THEN 1 ELSE 0 END) AS total_executions,
  sum(CASE WHEN outcome IN ('completed', 'disputed') THEN 1 ELSE 0 END) AS successful_executions,
  coalesce(CAST(sum(CASE WHEN outcome IN ('completed', 'disputed') THEN 1 ELSE 0 END) AS DOUBLE PRECISION)
    / nullif(sum(CASE WHEN outcome <> 'refunded' THEN 1 ELSE 0 END), 0), 0.0) AS success_rate,
  CAST(coalesce(round(avg(CASE WHEN outcome NOT IN ('failed', 'refunded') THEN execution_time_ms END)), 0) AS BIGINT)
    AS avg_execution_time_ms,
  sum(dispute_count) AS dispute_count, sum(creator_amount) AS earned
  FROM ended_executions GROUP BY listing ORDER BY listing`;
const SHOWN = `SELECT listing, total_executions, successful_executions, success_rate, avg_execution_time_ms, dispute_count,
  earned FROM agent_statistics ORDER BY listing`;
const CALLERS = `SELECT caller, listing, status, opened_at / 86400 AS day, count(*) AS executions FROM executions
  WHERE status <> 'open' GROUP BY 1, 2, 3, 4 UNION ALL
  SELECT caller, '', status, opened_at / 86400 AS day, count(*) FROM executions
  WHERE status <> 'open' GROUP BY 1, 3, 4 ORDER BY 1, 2, 3, 4`;
/** Rows of `agent_days` by listing or for all, in the order of its columns. Times have two significant digits, rounded half up. */
const daysOf = (listing: 'listing' | "''") => `
  SELECT ${listing} AS listing, settled_at / 86400 AS day, outcome, CAST(reason AS BIGINT) AS reason,
    CAST(CASE WHEN time IS NULL THEN -1 ELSE (time + unit / 2) / unit * unit END AS BIGINT) AS time_ms,
    count(*) AS executions,
    CAST(sum(CASE WHEN outcome IN ('failed', 'refunded') THEN 0 ELSE price END) AS BIGINT) AS paid,
    CAST(sum(creator_amount) AS BIGINT) AS earned
  FROM (
    SELECT *, CASE WHEN time < 100 THEN 1 WHEN time < 1000 THEN 10 WHEN time < 10000 THEN 100
      WHEN time < 100000 THEN 1000 WHEN time < 1000000 THEN 10000 WHEN time < 10000000 THEN 100000 ELSE 1000000 END AS unit
    FROM (
      SELECT e.listing, e.outcome, e.settled_at, e.creator_amount, x.price,
        CASE WHEN e.outcome IN ('failed', 'refunded') THEN coalesce(x.reason, -1) ELSE -1 END AS reason,
        CASE WHEN e.outcome IN ('failed', 'refunded') THEN NULL ELSE e.execution_time_ms END AS time
      FROM ended_executions AS e JOIN executions AS x ON x.execution_id = e.execution_id WHERE e.settled_at IS NOT NULL
    ) AS ends
  ) AS units
  GROUP BY 1, 2, 3, 4, 5`;
const DAYS = `${daysOf('listing')} UNION ALL ${daysOf("''")}`;

const SHOWN_DAYS = 'SELECT * FROM agent_days ORDER BY listing, day, outcome, reason, time_ms';
const SHOWN_CALLERS = 'SELECT * FROM caller_totals ORDER BY caller, listing, status, day';

async function expectFigures({ db, rows }: Opened): Promise<void> {
  expect(await rows(SHOWN)).to.deep.equal(await rows(STATISTICS));
  expect(await rows(SHOWN_CALLERS)).to.deep.equal(await rows(CALLERS));
  expect(await rows(SHOWN_DAYS)).to.deep.equal(await rows(`${DAYS} ORDER BY 1, 2, 3, 4, 5`));
  expect(await readWrongAgents(db)).to.deep.equal([]);
}

describe('indexer, pages', () => {
  afterEach(async () => {
    for (const close of closings.splice(0)) await close();
  });

  it('produce the same tables in one page and in many, with totals that add up', async () => {
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const history = randomHistory(seed, LENGTH);
      const [whole, single, pages] = [await openOwn(), await openOwn(), await openOwn()] as const;
      await applyBatch(whole.db, history);
      for (const item of history) await applyBatch(single.db, [item]);
      await apply(pages, history, randomOf(seed));
      const expected = await single.dump();
      expect(expected.executions!.length, `seed ${seed}`).to.be.greaterThan(20);
      const asked = "SELECT * FROM deposits WHERE status = 'opened' AND service_fee <> 5";
      expect(await single.rows(asked), 'the fee that was taken, not the one asked').to.deep.equal([]);
      expect(await whole.dump(), `seed ${seed}, one page`).to.deep.equal(expected);
      expect(await pages.dump(), `seed ${seed}, pages`).to.deep.equal(expected);
      await expectFigures(single);
    }
  });

  it('change nothing when they are applied again', async () => {
    const history = randomHistory(77, LENGTH);
    const opened = await openOwn();
    await apply(opened, history, randomOf(1));
    const { cursor: _, ...before } = await opened.dump();
    await opened.db.deleteFrom('cursor').execute();
    await apply(opened, history, randomOf(2));
    const { cursor: __, ...after } = await opened.dump();
    expect(after).to.deep.equal(before);
  });

  it('give a listing with another document a new id, and ids only grow', async () => {
    const opened = await openOwn();
    const agents = async () =>
      new Map((await opened.rows('SELECT * FROM agents')).map((row) => [row.listing as string, row]));
    let most = 0n;
    let changed = 0;
    for (const item of randomHistory(9, LENGTH)) {
      const before = await agents();
      await applyBatch(opened.db, [item]);
      const last = most;
      for (const [listing, { id, metadata_hash }] of await agents()) {
        const known = before.get(listing);
        if (known?.metadata_hash === metadata_hash) expect(id).to.equal(known?.id);
        else {
          expect((id as bigint) > last).to.equal(true);
          changed += 1;
        }
        if ((id as bigint) > most) most = id as bigint;
      }
    }
    expect(changed).to.be.above(5);
  });

  it("store any text that a stranger puts into a listing's address field", async () => {
    const history = randomHistory(3, 40);
    const at = history.findIndex(
      ({ content }) => content.kind === 'events' && content.events[0]?.name === 'AgentListed',
    );
    const content = history[at]!.content as { kind: 'events'; events: { data: object }[] };
    Object.assign(content.events[0]!.data, { metadataUri: 'https://a\0b.example' });
    const opened = await openOwn();
    await applyBatch(opened.db, history.slice(0, at + 1));
    expect((await opened.dump()).listings![0]!.metadata_uri).to.equal('https://a\uFFFDb.example');
    const [event] = (await opened.dump()).events!.filter(({ name }) => name === 'AgentListed');
    expect(JSON.parse(String(event!.data)).metadataUri).to.equal('https://a\0b.example');
  });

  it('recognise an execution whose account was read before its open was seen', async () => {
    const history = randomHistory(15, LENGTH);
    const [straight, other] = [await openOwn(), await openOwn()];
    const at = history.findIndex((item, place) => place > 40 && opens(item) && item.slot > history[place - 1]!.slot);
    const [before, opening] = [history.slice(0, at), history[at]!];
    await applyBatch(straight.db, [...before, opening]);
    const row = await newestOf(straight);
    expect(row.opened_slot).to.equal(opening.slot);

    const unseen = { open_signature: null, opened_slot: null, open_index: null };
    const nothing = { configs: [], creators: [], listings: [], grants: [], disputes: [], archives: [], deposits: [] };
    const readings = { refunds: [], gone: [] };
    const snapshot = { ...nothing, executions: [{ ...row, ...unseen }], ...readings };
    // Anybody can name the record's address before it is opened.
    const content: ChainTransaction['content'] = { kind: 'accounts', snapshot, carried: [] };
    await applyBatch(other.db, [...before, { ...before.at(-1)!, signature: 'naming', content }]);
    await applyBatch(other.db, [opening]);
    expect(await newestOf(other)).to.deep.equal(row);
  });

  it('show a claim whose leaf comes later as if the leaf had come first', async () => {
    const history = randomHistory(7, LENGTH);
    const eventsOf = ({ content }: ChainTransaction) => (content.kind === 'events' ? content.events : []);
    const claiming = history.findIndex((item) => eventsOf(item).some(({ name }) => name === 'RefundClaimed'));
    const claimed = eventsOf(history[claiming]!).find((event) => event.name === 'RefundClaimed')!;
    const claim = claimed.data.claim.toBase58();
    const ordered = history.slice(0, claiming + 1);
    const leaf = ordered.find((item) =>
      eventsOf(item).some((event) => {
        const found = unclaimedOf(event);
        return found && findRefundClaim(found.leaf.tree, found.leaf.leafIndex).toBase58() === claim;
      }),
    )!;
    const rowOf = async (opened: Opened) => (await opened.dump()).unclaimed_refunds!.find((row) => row.claim === claim);
    const [straight, late] = [await openOwn(), await openOwn()];
    await applyBatch(straight.db, ordered);
    const row = (await rowOf(straight))!;
    expect(row).to.include({ signature: leaf.signature, claimed_at: claimed.data.claimedAt });
    await applyBatch(
      late.db,
      ordered.filter((item) => item !== leaf),
    );
    const { slot } = ordered[claiming]!;
    expect(await rowOf(late)).to.deep.equal({ ...row, signature: null, slot });
    await applyBatch(late.db, [leaf]);
    expect(await rowOf(late)).to.deep.equal(row);
  });

  it('rejects: a page that does not follow the last stored transaction', async () => {
    const history = randomHistory(11, 20);
    const opened = await openOwn();
    await applyBatch(opened.db, history.slice(0, 10), null);
    const before = await opened.dump();
    const failure = await applyBatch(opened.db, history.slice(10), 'another').catch((error) => error);
    expect(failure).to.be.instanceOf(CursorMoved);
    expect(failure.message).to.equal(
      `the cursor of the index is at ${history[9]!.signature}, and this batch starts after another`,
    );
    expect(await opened.dump()).to.deep.equal(before);
  });

  it('rejects: the retry of a failed page after the tables were replaced', async () => {
    const opened = await openOwn();
    const history = randomHistory(11, 20);
    await applyBatch(opened.db, history.slice(0, 10));
    const { db } = opened;
    // PostgreSQL can fail like this when tables are replaced just after a statement began to read them.
    const execute = async () => {
      Reflect.deleteProperty(db, 'transaction');
      await db.updateTable('cursor').set({ signature: 'of other tables' }).execute();
      throw new Error('could not open relation with OID 16390');
    };
    Object.defineProperty(db, 'transaction', { configurable: true, value: () => ({ execute }) });
    const events = (await opened.rows('SELECT * FROM events')).length;
    const failure = await applyBatch(db, history.slice(10), history[9]!.signature).catch((error) => error);
    expect(failure).to.be.instanceOf(CursorMoved);
    expect(await opened.rows('SELECT * FROM events')).to.have.length(events);
  });

  it('rejects: a page with a value that no column holds, and names the transaction', async () => {
    const history = randomHistory(3, 40);
    const at = history.findIndex(
      ({ content }) => content.kind === 'events' && content.events[0]?.name === 'AgentListed',
    );
    const content = history[at]!.content as { kind: 'events'; events: { data: object }[] };
    Object.assign(content.events[0]!.data, { price: 2n ** 64n - 1n });
    const opened = await openOwn();
    const failure = await applyBatch(opened.db, history.slice(0, at + 1)).catch((error: Error) => error.message);
    expect(failure).to.include(`cannot apply transaction ${history[at]!.signature}`);
    expect((await opened.dump()).events).to.deep.equal([]);
  });
});
