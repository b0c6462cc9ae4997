/** `reconcile` on a marketplace with calls of every outcome: it reports agreement, and names each broken row. */
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AccountLayout } from '@solana/spl-token';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { type Kysely, sql } from 'kysely';
import { type OpenDatabase, openDatabase } from '../../../app/database/open.ts';
import { readChainHeld } from '../../../app/relay/chain/held.ts';
import { indexPath, ledgerPath } from '../../../app/relay/config.ts';
import { openViews } from '../../../app/relay/ledger/open.ts';
import { compareHeld, type HeldDeps } from '../../../app/relay/operation/held.ts';
import { DIFFERENCES, type DifferenceKind } from '../../../app/relay/reconcile/compare.ts';
import { type Reconciliation, reconcile } from '../../../app/relay/reconcile/sweep.ts';
import {
  depositAddress,
  findEscrow,
  findExecution,
  findSpender,
  prepareDeposit,
} from '../../../app/sdk/program/program.ts';
import { formatUuid, parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../../harness/edge/until.ts';
import { useFolder } from '../../harness/folder.ts';
import { failedAnswer, goodAnswer, type TestMarketplace, useMarketplace } from '../../harness/node/marketplace.ts';
import { runCommandHere, runRelayCommand } from '../../harness/node/relayMain.ts';

/** An address without an account. */
const STRANGER = Keypair.generate().publicKey.toBase58();
const STRANGER_ID = formatUuid(Buffer.from('00112233445580008000aabbccddeeff', 'hex'));

/** Tables that a test can spoil. Columns are checked only by its statements. */
interface Written {
  executions: Record<string, unknown>;
}
type Tables = Kysely<Written>;
type Spoil = (ledger: Tables, index: Tables) => Promise<unknown>;

describe('reconcile', () => {
  const folder = useFolder('reconcile');
  /** Settings that name the copy checked last. */
  const copied = { DATA_DIR: folder };
  const ids = { completed: '', other: '', failed: '', open: '' };
  type Subject = keyof typeof ids | 'key' | 'deposit' | 'stranger';
  /** A deposit of another deployment, whose rent returns to the creator. */
  let deposit: string;
  let key: string;
  const named = new Set<DifferenceKind>();

  const market = useMarketplace({ here: true });
  before(async () => {
    market.setBehaviour((body, _response, reply) => {
      if (body.task === 'failing') reply(failedAnswer(body.execution_id));
      else if (body.task !== 'silent') reply(goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`));
    });
    const [{ wallet }] = market.callers as [TestMarketplace['callers'][0]];
    const execute = async (body: Record<string, unknown>) => (await market.execute(market.relay.url, body)).body;
    ids.completed = (await execute({ task: 'one' })).execution_id;
    ids.other = (await execute({ task: 'two' })).execution_id;
    ids.failed = (await execute({ task: 'failing' })).error.execution_id;
    ids.open = (await execute({ task: 'silent', async: true })).execution_id;
    deposit = await prepareForOthers();
    const known = `SELECT 1 FROM executions, deposits WHERE execution_id = '${ids.open}'`;
    await until(
      'the index has the last call, and the deposit',
      async () => (await market.query('index', known)).length > 0,
    );
    await until('its creator is called', () => market.calls.has(ids.open));
    // Nothing moves from here on, so a test's damage remains.
    await market.relay.kill();
    const [row] = await market.query('ledger', 'SELECT key_id FROM executions LIMIT 1');
    key = `${wallet.publicKey.toBase58()} ${row.key_id}`;
    for (const of of ['ledger', 'index'] as const) await market.query(of, 'PRAGMA wal_checkpoint(TRUNCATE)');
  });

  async function prepareForOthers(): Promise<string> {
    const { authority, creator, usdcMint, callers } = market;
    const caller = callers[0]!.wallet.publicKey;
    const quote = { terms: Buffer.alloc(32, 1), payer: caller, price: 250_000n, serviceFee: 5_000n, usdcMint };
    const signer = { authority: authority.publicKey, rentPayer: authority.publicKey };
    const prepare = prepareDeposit({ ...quote, ...signer, rentSponsor: creator.publicKey, caller });
    await sendTransaction(market.node.connection, [prepare], keypairSigner(authority));
    return depositAddress(quote).address.toBase58();
  }

  /** Copies the tables, lets `spoil` change them, and compares them with the chain. */
  async function check(spoil: Spoil = async () => undefined) {
    const [ledger, index] = [copy(ledgerPath), copy(indexPath)];
    await spoil(ledger.db, index.db);
    for (const { close } of [ledger, index]) await close();
    const views = await openViews({ dataDir: folder, databaseUrl: null });
    try {
      return await reconcile({ connection: market.node.connection, views: views.db, passes: 2, pauseMs: 0 });
    } finally {
      await views.close();
    }
  }

  function copy(pathIn: (dataDir: string) => string): OpenDatabase<Written> {
    const path = pathIn(folder);
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    copyFileSync(pathIn(market.dataDir), path);
    return openDatabase<Written>(path);
  }

  /** Expects exactly these differences, in any order. */
  function expectDifferences(found: Reconciliation, expected: [DifferenceKind, string][]): void {
    const pairs = found.differences.map(({ kind, subject }) => `${kind} ${subject}`).sort();
    expect(pairs).to.deep.equal(expected.map(([kind, subject]) => `${kind} ${subject}`).sort());
    expect([found.agrees, found.differences_total]).to.deep.equal([false, expected.length]);
    for (const [kind] of expected) named.add(kind);
  }

  it('reports agreement for a correct ledger, and lists what it compared', async () => {
    const { differences, ...rest } = await check();
    expect(differences).to.deep.equal([]);
    expect(rest).to.deep.equal({
      agrees: true,
      open_records: 1,
      escrow_total: 250_000n,
      journal_rows: 4,
      index_rows: 4,
      keys: 2,
      differences_total: 0,
    });
  });

  it('the admin’s comparison finds the chain’s sums equal to those of a correct ledger, and each that is not', async () => {
    const compare = async (spoil: Spoil = async () => undefined) => {
      const [ledger, index] = [copy(ledgerPath), copy(indexPath)];
      await spoil(ledger.db, index.db);
      for (const { close } of [ledger, index]) await close();
      const views = await openViews({ dataDir: folder, databaseUrl: null });
      const { usdcMint, node } = market;
      const readHeld: HeldDeps['readHeld'] = (whose) => readChainHeld(node.connection, { ...whose, usdcMint });
      try {
        return await compareHeld({ views: views.db, readHeld, pauseMs: 0 });
      } finally {
        await views.close();
      }
    };
    const found = await compare();
    expect(found.usdc).to.deep.equal(
      ['escrow', 'deposits', 'collateral', 'unclaimed'].map((what, at) => {
        const held = [0.25, 0, found.usdc[2]!.chain_usdc, 0][at]!;
        return { what, known_usdc: held, chain_usdc: held };
      }),
    );
    expect(found.usdc[2]!.chain_usdc).to.be.above(0);
    expect(found.rent).to.deep.equal({ known: found.rent.chain, chain: found.rent.chain });
    expect(found.rent.chain).to.be.above(0);
    const spenders = market.callers.map(({ wallet }) => findSpender(wallet.publicKey));
    const accounts = await market.node.connection.getMultipleAccountsInfo(spenders, 'finalized');
    const lamports = accounts.reduce((sum, account) => sum + (account?.lamports ?? 0), 0);
    expect(found.gas_balances).to.deep.equal({ lamports, wallets: spenders.length });

    const spoiled = await compare(async (ledger, index) => {
      await set(index, 'executions', `status = 'completed'`, 'open');
      await set(ledger, 'executions', 'record_lent = record_lent + 1', 'completed');
    });
    expect(spoiled.usdc[0]).to.deep.equal({ what: 'escrow', known_usdc: 0, chain_usdc: 0.25 });
    expect(spoiled.rent).to.deep.equal({ known: found.rent.chain + 1, chain: found.rent.chain });
  });

  async function set(database: Tables, table: string, changes: string, name: keyof typeof ids): Promise<void> {
    const statement = sql`UPDATE ${sql.table(table)} SET ${sql.raw(changes)} WHERE execution_id = ${ids[name]}`;
    expect((await statement.execute(database)).numAffectedRows).to.equal(1n);
  }
  const inLedger =
    (name: keyof typeof ids, changes: string): Spoil =>
    (ledger) =>
      set(ledger, 'executions', changes, name);
  const inIndex =
    (name: keyof typeof ids, changes: string): Spoil =>
    (_, index) =>
      set(index, 'executions', changes, name);
  const remove = async (database: Tables, id: string) => {
    const { numDeletedRows } = await database
      .deleteFrom('executions')
      .where('execution_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(numDeletedRows).to.equal(1n);
  };
  /** Inserts a copy of a real row under an id that was never on the chain. */
  const invent = async (database: Tables, id: string, changes: Record<string, unknown>) => {
    const row = await database
      .selectFrom('executions')
      .selectAll()
      .where('execution_id', '=', id)
      .executeTakeFirstOrThrow();
    // The database computes these columns of the ledger.
    const { lent, lent_to, owed, event_type, ...copied } = row as Record<string, unknown>;
    const invented = { ...copied, execution_id: STRANGER_ID, ...changes };
    await database.insertInto('executions').values(invented).execute();
  };

  const OTHER_HASH = 'ab'.repeat(32);
  const OTHER_RESULT = `result_hash = '${OTHER_HASH}'`;
  const CASES: Record<string, [spoil: Spoil, ...expected: `${DifferenceKind} ${Subject}`[]]> = {
    'an open record that the journal has as ended': [inLedger('open', "state = 'settled'"), 'journal_state open'],
    'an open record without a row': [(ledger) => remove(ledger, ids.open), 'journal_missing open'],
    'a settled record that the journal has as refunded': [
      inLedger('completed', "state = 'refunded'"),
      'journal_state completed',
    ],
    'a settled record that the journal still works on': [
      inLedger('completed', "state = 'verified'"),
      'journal_state completed',
    ],
    'a refunded record that the journal has as settled': [
      inLedger('failed', "state = 'settled'"),
      'journal_state failed',
    ],
    'another price in the journal': [inLedger('open', 'price = price + 1'), 'journal_terms open'],
    'another request in the journal': [
      inLedger('completed', `request_hash = '${OTHER_HASH}'`),
      'journal_terms completed',
    ],
    'a base unit too much for the creator': [
      inLedger('completed', 'creator_amount = creator_amount + 1'),
      'journal_amounts completed',
    ],
    'a lamport of gas that the record does not hold': [
      inLedger('completed', 'gas_lamports = gas_lamports + 1'),
      'journal_lamports completed',
    ],
    'a stored result that nobody was paid for': [
      (ledger) => set(ledger, 'results', `result_hash = 'sha256:${OTHER_HASH}'`, 'completed'),
      'journal_result completed',
    ],
    'a row of the journal that was never opened': [(ledger) => invent(ledger, ids.open, {}), 'record_missing stranger'],
    'a row of the index that was never opened': [
      (_, index) => invent(index, ids.open, { record: 'nowhere', key_id: null }),
      'record_missing stranger',
    ],
    'another status in the index': [inIndex('open', "status = 'completed'"), 'index_status open', 'index_terms open'],
    'another price in the index': [
      inIndex('completed', 'price = price - 1'),
      'index_terms completed',
      'grant_spend key',
    ],
    'another result in the index': [inIndex('other', OTHER_RESULT), 'index_terms other'],
    'a base unit too little in the index': [
      inIndex('other', 'creator_amount = creator_amount - 1'),
      'index_amounts other',
    ],
    'a row that the index lost': [
      (_, index) => remove(index, ids.completed),
      ...(['index_missing completed', 'grant_spend key', 'grant_count key'] as const),
    ],
    'a key that spent less by the index': [
      (_, index) => sql`UPDATE grants SET total_spent = '1' WHERE execution_count > 0`.execute(index),
      'index_grant key',
    ],
    'a key of the index that is not on the chain': [
      (_, index) => sql`UPDATE grants SET grant_address = ${STRANGER} WHERE execution_count > 0`.execute(index),
      'index_grant key',
    ],
    'a deposit of its own without a row': [
      (ledger) => sql`INSERT INTO lenders (address) VALUES (${market.creator.publicKey.toBase58()})`.execute(ledger),
      'journal_deposit deposit',
    ],
    'everything at once': [
      async (ledger, index) => {
        await remove(ledger, ids.open);
        await set(ledger, 'executions', "state = 'void'", 'completed');
        await set(index, 'executions', "status = 'open', result_hash = NULL", 'other');
      },
      ...(['journal_missing open', 'journal_state completed', 'index_status other'] as const),
    ],
  };
  for (const [name, [spoil, ...expected]] of Object.entries(CASES)) {
    it(`reports ${name}`, async () => {
      const found = await check(spoil);
      const subjects = { ...ids, key, deposit, stranger: STRANGER_ID };
      const pairs = expected.map((one) => one.split(' ') as [DifferenceKind, Subject]);
      expectDifferences(
        found,
        pairs.map(([kind, subject]) => [kind, subjects[subject]]),
      );
    });
  }

  it('accepts a closed record, a refused call, one whose wallet opened its id itself, and an open in flight', async () => {
    const own = await check(async (ledger, index) => {
      await inLedger('failed', "state = 'void', gas_lamports = 1")(ledger, index);
      await inIndex('failed', 'key_id = NULL')(ledger, index);
    });
    // Without the key its count differs.
    expectDifferences(own, [['grant_count', key]]);
    const found = await check(async (ledger, index) => {
      await invent(ledger, ids.open, { state: 'void' });
      await invent(index, ids.failed, {
        record: 'closed',
        key_id: null,
        closed: 1,
        execution_id: STRANGER_ID.replace('ff', 'fe'),
      });
    });
    expect(found).to.deep.include({ agrees: true, differences: [], journal_rows: 5, index_rows: 5 });
    const opening = await check((ledger) => invent(ledger, ids.open, { state: 'open_signed' }));
    expect(opening.agrees).to.equal(true);
  });

  describe('on the chain', () => {
    const { connection, rpc } = { connection: () => market.node.connection, rpc: () => market.node.rpc };
    const escrowOf = (id: string) => findEscrow(findExecution(parseUuid(id)!));
    const write = (address: { toBase58(): string }, account: Record<string, unknown>) =>
      rpc()('surfnet_setAccount', [address.toBase58(), account]);

    it('names an escrow that holds one base unit less than the price', async () => {
      const escrow = escrowOf(ids.open);
      const account = (await connection().getAccountInfo(escrow, 'confirmed'))!;
      const data = Buffer.from(account.data);
      const amount = AccountLayout.offsetOf('amount')!;
      data.writeBigUInt64LE(249_999n, amount);
      await write(escrow, { data: data.toString('hex') });
      const short = await check();
      expectDifferences(short, [['escrow_short', ids.open]]);
      expect(short.escrow_total).to.equal(249_999n);
      // Anything above the price is a gift, which goes to the refund or the treasury.
      data.writeBigUInt64LE(250_001n, amount);
      await write(escrow, { data: data.toString('hex') });
      expect((await check()).agrees).to.equal(true);
      data.writeBigUInt64LE(250_000n, amount);
      await write(escrow, { data: data.toString('hex') });
    });

    it('names an escrow that still exists after the end', async () => {
      const account = (await connection().getAccountInfo(escrowOf(ids.open), 'confirmed'))!;
      const copy = { lamports: account.lamports, owner: account.owner.toBase58(), data: account.data.toString('hex') };
      await write(escrowOf(ids.completed), copy);
      expectDifferences(await check(), [['escrow_left', ids.completed]]);
      await write(escrowOf(ids.completed), { lamports: 0, owner: '11111111111111111111111111111111', data: '' });
      expect((await check()).agrees).to.equal(true);
    });

    it('names every kind of difference in these tests', () => {
      expect([...named].sort()).to.deep.equal(Object.keys(DIFFERENCES).sort());
    });
  });

  it('exits 0 when all agrees, 1 with the differences, and 2 when it cannot compare', async () => {
    await check();
    const agrees = await runCommandHere(market, ['reconcile', '--json'], copied);
    expect([agrees.status, agrees.stderr]).to.deep.equal([0, '']);
    expect(JSON.parse(agrees.stdout)).to.include({ agrees: true, open_records: 1, escrow_total_usdc: 0.25, keys: 2 });
    await check(inLedger('open', "state = 'void'"));
    const differs = await runRelayCommand(market, ['reconcile'], copied);
    expect([differs.status, differs.stderr]).to.deep.equal([1, '']);
    expect(differs.stdout).to.include(
      `journal_state  ${ids.open}  its state in the journal is void, the record is open`,
    );
    expect(differs.stdout).to.include(DIFFERENCES.journal_state).and.to.include('1 differences in 1 open records');
    const unknown = await runCommandHere(market, ['reconcile'], { DATA_DIR: join(folder, 'none') });
    expect([unknown.status, unknown.stdout]).to.deep.equal([2, '']);
    expect(unknown.stderr).to.match(/ledger\.db does not exist/);
    // `fetch` never connects to this port.
    const silent = await runCommandHere(market, ['reconcile'], {
      ...copied,
      SOLANA_RPC_URL: 'http://127.0.0.1:1/key',
    });
    expect([silent.status, silent.stdout]).to.deep.equal([2, '']);
    expect(silent.stderr).to.match(
      /^the node at http:\/\/127\.0\.0\.1:1 does not answer: bad port\. Set SOLANA_RPC_URL/,
    );
  });
});
