/** `npm run indexer -- verify`: an index that equals the chain, and one wrong value in each table. */
import { Keypair, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { openPlace } from '../../indexer/queries/open.ts';
import { type Verification, verify } from '../../indexer/verify/verify.ts';
import { until } from '../harness/edge/until.ts';
import { createAftermath } from './aftermath.ts';
import { change, useBench } from './harness.ts';

const DAY = 86_400;

/**
 * Statements that each make a value wrong, with the table and the column, or null for a whole row, that must be reported.
 * Those of a group are made together: none of them causes the report of another.
 */
const TAMPERED: [table: string, column: string | null, sql: string][][] = [
  [
    ['configs', 'record_seconds', 'UPDATE configs SET record_seconds = record_seconds + 1'],
    ['creators', 'verified', 'UPDATE creators SET verified = 1 - verified'],
    ['listings', 'deposited', 'UPDATE listings SET deposited = deposited + 1'],
    ['grants', 'total_spent', "UPDATE grants SET total_spent = total_spent || '0'"],
    ['executions', 'settled_at', "UPDATE executions SET settled_at = settled_at + 1 WHERE status = 'refunded'"],
    ['deposits', 'service_fee', 'UPDATE deposits SET service_fee = service_fee + 1'],
    ['disputes', 'bond', 'UPDATE disputes SET bond = bond + 1'],
    ['archives', 'leaf_count', 'UPDATE archives SET leaf_count = leaf_count + 1'],
    ['unclaimed_refunds', 'claimed_at', 'UPDATE unclaimed_refunds SET claimed_at = 1'],
    ['agent_statistics', 'earned', 'UPDATE agent_statistics SET earned = earned + 1'],
    ['caller_totals', 'executions', 'UPDATE caller_totals SET executions = executions + 1'],
    ['agent_days', 'earned', 'UPDATE agent_days SET earned = earned + 1'],
  ],
  [
    ['listings', 'price', 'UPDATE listings SET price = price - 1'],
    ['executions', null, "UPDATE executions SET closed = 1 WHERE closed = 0 AND status = 'open'"],
    ['deposits', null, 'DELETE FROM deposits'],
    ['executions', 'status', "UPDATE executions SET status = 'completed' WHERE status = 'disputed'"],
    ['archives', 'root', 'DELETE FROM archive_leaves WHERE leaf_index = 1'],
    ['unclaimed_refunds', 'leaf', 'UPDATE unclaimed_refunds SET unclaimed_at = unclaimed_at + 1'],
    [
      'unread_accounts',
      null,
      'INSERT INTO unread_accounts (address, slot) SELECT record, 1 FROM executions WHERE closed = 0 LIMIT 1',
    ],
    ['grants', null, 'DELETE FROM grants'],
    ['creators', null, 'DELETE FROM creators'],
  ],
  [
    ['archive_leaves', 'leaf', 'UPDATE executions SET price = price + 1 WHERE closed = 1'],
    ['unclaimed_refunds', 'amount', 'UPDATE unclaimed_refunds SET amount = amount + 1'],
    ['agents', null, 'UPDATE agents SET price = price + 1'],
    ['executions', null, "DELETE FROM executions WHERE closed = 0 AND status = 'open'"],
  ],
];

describe('indexer, verify', function () {
  this.timeout(600_000);
  const { market, bench } = useBench();
  const path = () => bench.path('index.db');

  const check = async (place = path()): Promise<Verification> => {
    const { db, close } = await openPlace(place);
    const { connection } = market.node;
    const checked = await verify({ db, connection, programId: program.PROGRAM_ID, patienceMs: 0 });
    await close();
    return checked;
  };
  const run = async (...args: string[]) => (await bench.run('index.db', 'verify', ...args)).exited;
  before(async () => {
    const { node, caller, send } = market;
    const aftermath = createAftermath(market);
    const give = (instructions: TransactionInstruction[], ...signers: Keypair[]) => send(instructions, ...signers);
    await market.list();
    await market.verify(true);
    const key = await market.grant();
    const paid = [await market.open(key), await market.open(key), await market.open()];
    for (const one of paid) await market.settle(one);
    const slot = await node.connection.getSlot('confirmed');
    await until('final', async () => (await node.connection.getSlot('finalized')) > slot);
    await node.timeTravel((await node.now()) + 4 * DAY);
    const tree = Keypair.generate();
    const rent = await node.connection.getMinimumBalanceForRentExemption(program.constants.archiveTreeBytes);
    await give(aftermath.createArchive(tree.publicKey, rent), caller, tree);
    await give([aftermath.archive(tree.publicKey, paid)], caller);
    const stuck = await market.open();
    await node.timeTravel((await node.now()) + 5_000);
    await node.setFrozen(market.source, true);
    await give([aftermath.move(stuck, market.creator.publicKey, tree.publicKey)], market.creator);
    await node.setFrozen(market.source, false);
    const disputed = await market.open();
    await market.settle(disputed);
    await give([aftermath.dispute(disputed)], caller);
    await market.refund(await market.open(), 'creatorFailed');
    await market.open();
    const { terms } = await market.openInstruction(new Uint8Array(16));
    await give([aftermath.deposit(terms, 1n).prepare], market.relay);
    await bench.backfill('index.db');
  });
  it('finds no difference in a correct index, and counts what it compared', async () => {
    const { rows, differences } = await check();
    expect(differences).to.deep.equal([]);
    // Config, creator, listing, grant, seven executions, a dispute, an archive, three leaves, and figures.
    expect(rows).to.be.greaterThan(15);
    const json = await run('--json');
    expect([json.code, JSON.parse(json.stdout)]).to.deep.equal([0, { rows, differences: [] }]);
  });

  for (const group of TAMPERED) {
    const wrong = group.map(([table, column]) => `${table} ${column}`);
    it(`reports a difference in ${wrong.join(', ')}`, async () => {
      const copy = await bench.copy('index.db', 'tampered.db');
      for (const [, , sql] of group) expect(await change(copy, sql), sql).to.be.greaterThan(0);
      const { differences } = await check(copy);
      expect(differences.map(({ table, column }) => `${table} ${column}`)).to.include.members(wrong);
      for (const one of differences) expect(one.index).to.not.equal(one.chain);
    });
  }

  it('changes nothing', async () => {
    expect((await check()).differences).to.deep.equal([]);
  });

  it('exits 1 when something differs', async () => {
    await change(path(), 'UPDATE configs SET record_seconds = 9999');
    const wrong = await run('--json');
    expect(wrong.code).to.equal(1);
    const [difference] = JSON.parse(wrong.stdout).differences;
    expect(difference).to.deep.include({ table: 'configs', column: 'record_seconds', index: '9999', chain: '3600' });
    const text = await run();
    expect(text.stdout).to.equal(`configs ${difference.key} record_seconds: 9999 in the index, 3600 on the chain\n`);
    expect(text.stderr).to.include('executions: 7 rows');
  });
});
