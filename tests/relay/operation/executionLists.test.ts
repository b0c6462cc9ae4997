import { expect } from 'chai';
import { sql } from 'kysely';
import { findPage, type PageQuery } from '../../../app/relay/calls/executionPages.ts';
import { INITIATED_AT, readViews, STATUS } from '../../../app/relay/calls/executionViews.ts';
import { NO_KEY } from '../../../app/relay/ledger/funding.ts';
import type { ExecutionState, RefundState } from '../../../app/relay/ledger/tables.ts';
import { EXECUTION_STATUSES } from '../../../app/sdk/wire/wire.ts';
import type { ExecutionStatusName } from '../../../indexer/queries/tables.ts';
import { refreshFigures } from '../../harness/edge/figures.ts';
import { createRows, newExecutionId } from '../../harness/edge/rows.ts';
import { createRandom, type Random } from '../../harness/random.ts';
import { useTables } from '../../harness/tables.ts';

const TABLES = 5;
const QUESTIONS = 100;
const WALLETS = ['wallet one', 'wallet two'] as const;
const LISTINGS = ['11111111111111111111111111111111', '22222222222222222222222222222222'] as const;
const KEYS = ['a'.repeat(32), 'b'.repeat(32)] as const;
const DAY = 86_400;
/** Start of a day. Everything here happens within some days before it. */
const NOW = 20_370 * DAY;

const UNFINISHED =
  'accepted deposit_signed paid returning open_signed open_confirmed dispatched verified refunding parked'.split(
    ' ',
  ) as ExecutionState[];
const REFUND_STATES: (RefundState | null)[] = [null, 'pending', 'waiting'];
const ON_CHAIN: ExecutionStatusName[] = ['open', 'completed', 'completed', 'refunded', 'disputed', 'dispute_upheld'];

describe('lists of executions', () => {
  const tables = useTables();
  let rows: ReturnType<typeof createRows>;
  before(async () => {
    rows = createRows(tables.index.db, tables.ledger.db, { nowMs: NOW * 1_000 });
  });

  /** Adds a random execution to one or both tables. Old ended ones are always in the index. */
  async function addExecution(random: Random, number: number): Promise<void> {
    const wallet = random.pick(WALLETS);
    const listing = random.pick(LISTINGS);
    const key = random.pick([...KEYS, null]);
    const execution_id = newExecutionId();
    const opened = NOW - random.below(random.pick([50, 5 * DAY]));
    const isRecent = opened > NOW - 100;
    const what = random.pick(['chain', 'both', 'both', 'journal', 'void'] as const);
    if (what === 'chain' || what === 'both') {
      await rows.addRecord({
        execution_id,
        caller: wallet,
        listing,
        key_id: key,
        status: random.pick(ON_CHAIN),
        opened_at: BigInt(opened),
        opened_slot: random.below(8) === 0 ? null : BigInt(opened * 2),
        open_index: random.below(8) === 0 ? null : BigInt(number),
      });
    }
    if (what === 'chain') return;
    const ended = random.pick(['settled', 'refunded'] as const);
    const unopened = random.pick(['returned', 'void'] as const);
    const isEnded = random.below(2) === 0 && (what === 'both' || isRecent);
    const state = what === 'void' ? unopened : isEnded ? ended : random.pick(UNFINISHED);
    const isOver = ['settled', 'refunded', 'returned', 'void'].includes(state);
    await rows.addJournal({
      execution_id,
      wallet,
      listing,
      key_id: key ?? NO_KEY,
      state,
      accepted_at: BigInt(opened - 1),
      created_ms: BigInt(opened * 1_000 + random.below(1_000)),
      opened_at: what === 'void' || (what === 'journal' && random.below(2) === 0) ? null : BigInt(opened),
      settled_at: isOver ? BigInt(opened + 5) : null,
      refund_state: state === 'refunding' || state === 'parked' ? random.pick(REFUND_STATES) : null,
    });
  }

  async function fill(random: Random): Promise<void> {
    await tables.index.db.deleteFrom('executions').execute();
    await tables.ledger.db.deleteFrom('executions').execute();
    const count = 20 + random.below(60);
    for (let number = 0; number < count; number++) await addExecution(random, number);
    // The newest record of the index belongs to another wallet.
    if (random.below(4) > 0) {
      const newest = { opened_at: BigInt(NOW), opened_slot: BigInt(NOW * 2), open_index: 99n };
      await rows.addRecord({ caller: 'somebody else', listing: LISTINGS[0], ...newest });
    }
    await refreshFigures(tables.index.db);
  }

  /** The list by definition: one query that reads everything. */
  async function readPlainly(query: PageQuery): Promise<{ ids: string[]; total: number }> {
    const columns = sql`${STATUS} AS status, ${INITIATED_AT} AS initiated_at,
      CASE WHEN c.execution_id IS NULL THEN 1 ELSE 0 END AS is_ahead, c.opened_slot, c.open_index,
      CASE WHEN c.execution_id IS NULL THEN j.created_ms END AS created_ms`;
    const { rows: all } = await sql<{ execution_id: string }>`SELECT execution_id FROM (
        SELECT j.execution_id, j.listing, j.key_id, ${columns}
        FROM executions AS j LEFT JOIN chain.executions AS c ON c.execution_id = j.execution_id
        WHERE j.wallet = ${query.wallet} AND j.state <> 'accepted'
        UNION ALL
        SELECT c.execution_id, c.listing, c.key_id, ${columns}
        FROM chain.executions AS c
        LEFT JOIN executions AS j ON j.execution_id = c.execution_id AND j.state <> 'accepted'
        WHERE c.caller = ${query.wallet} AND j.execution_id IS NULL
      ) AS executions
      WHERE ${query.status === undefined ? sql`1 = 1` : sql`status = ${query.status}`}
        AND ${query.agentId === undefined ? sql`1 = 1` : sql`listing = ${query.agentId}`}
        AND ${query.keyId === undefined ? sql`1 = 1` : sql`key_id = ${query.keyId}`}
        AND initiated_at >= ${BigInt(query.from)} AND initiated_at < ${BigInt(query.to)}
      ORDER BY initiated_at DESC, is_ahead DESC, opened_slot DESC NULLS LAST, open_index DESC NULLS LAST,
        created_ms DESC NULLS LAST, execution_id DESC`.execute(tables.views.db);
    const page = all.slice(query.offset, query.offset + query.limit);
    return { ids: page.map((row) => row.execution_id), total: all.length };
  }

  function ask(random: Random): PageQuery {
    const moment = () => NOW - 6 * DAY + random.below(7 * DAY);
    return {
      wallet: random.pick(WALLETS),
      status: random.pick([undefined, ...EXECUTION_STATUSES]),
      agentId: random.pick([undefined, ...LISTINGS]),
      keyId: random.pick([undefined, ...KEYS]),
      from: random.below(2) === 0 ? 0 : moment(),
      to: random.below(2) === 0 ? 2 ** 40 : moment(),
      limit: 1 + random.below(10),
      offset: random.below(3) === 0 ? random.below(40) : 0,
    };
  }

  it(`equal the results of a plain query for ${TABLES * QUESTIONS} random requests`, async () => {
    let shown = 0;
    for (let seed = 1; seed <= TABLES; seed++) {
      const random = createRandom(seed);
      await fill(random);
      for (let number = 0; number < QUESTIONS; number++) {
        const query = ask(random);
        const page = await findPage(tables.views.db, query);
        expect(page, `seed ${seed}, ${JSON.stringify(query)}`).to.deep.equal(await readPlainly(query));
        const read = await readViews(tables.views.db, page.ids);
        expect(read.map((row) => row.execution_id)).to.deep.equal(page.ids);
        for (const row of read) {
          expect(row.status).to.equal(query.status ?? row.status);
          expect(row.key_id).to.equal(query.keyId ?? row.key_id);
        }
        shown += page.ids.length;
      }
    }
    expect(shown).to.be.at.least((TABLES * QUESTIONS) / 3);
  });
});
