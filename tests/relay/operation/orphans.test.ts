import { Keypair, type PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { adoptOrphans } from '../../../app/relay/execution/recovery/orphans.ts';
import { readLandedReturns, readUnknownOpen } from '../../../app/relay/ledger/indexed.ts';
import { createJournal } from '../../../app/relay/ledger/journal.ts';
import { noteLender, readUnknownDeposits } from '../../../app/relay/ledger/lenders.ts';
import { createLog } from '../../../app/relay/log.ts';
import {
  accountDiscriminator,
  PROGRAM_ID,
  RECORD_OFFSETS,
  RECORD_SIZE,
  RECORD_STATUS_BYTE,
} from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { createRows, EPOCH, newExecutionId } from '../../harness/edge/rows.ts';
import { useTables } from '../../harness/tables.ts';

describe('open records without a row', () => {
  const tables = useTables();

  it('are those of void rows at any time, and others once no deployment serves them any more', async () => {
    const rows = createRows(tables.index.db, tables.ledger.db, { nowMs: EPOCH * 1_000 });
    const deadline = BigInt(EPOCH + 60);
    const found = { caller: 'wallet', listing: 'listing', status: 'open' as const, deadline };
    const add = async (state?: 'void' | 'dispatched') => {
      const execution_id = await rows.addRecord(found);
      if (state) await rows.addJournal({ execution_id, wallet: 'wallet', listing: 'listing', state });
      const record = tables.index.db.selectFrom('executions').select('record').where('execution_id', '=', execution_id);
      return (await record.executeTakeFirstOrThrow()).record;
    };
    const landedAfterAll = await add('void');
    const unknown = await add();
    await add('dispatched');
    await rows.addRecord({ ...found, status: 'refunded' });
    expect(await readUnknownOpen(tables.views.db, deadline - 1n)).to.deep.equal([landedAfterAll]);
    expect(await readUnknownOpen(tables.views.db, deadline)).to.have.members([landedAfterAll, unknown]);
    expect(await readUnknownOpen(tables.views.db)).to.have.members([landedAfterAll, unknown]);
  });

  it('are also those of returned deposits that paid for them: their rows are parked, and keep what can prove it', async () => {
    const rows = createRows(tables.index.db, tables.ledger.db, { nowMs: EPOCH * 1_000 });
    const terms = { wallet: 'payer', listing: 'listing', error_code: 'agent_paused', error_message: 'Sent back' };
    const add = async (state: 'returned' | 'returning', record: { isOurs: boolean; status?: 'refunded' } | null) => {
      const ended = { settled_at: BigInt(EPOCH), refund_state: 'done' as const };
      const execution_id = newExecutionId();
      const deposit = `deposit of ${execution_id}`;
      await rows.addJournal({ ...terms, ...ended, execution_id, state, deposit });
      await rows.addTransaction(execution_id, 'open', { signature: `open of ${execution_id}`, outcome: 'expired' });
      const found = { execution_id, caller: 'payer', listing: 'listing', status: record?.status ?? ('open' as const) };
      if (record) await rows.addRecord({ ...found, deposit: record.isOurs ? deposit : null });
      return execution_id;
    };
    const landed = await add('returned', { isOurs: true });
    const landing = await add('returning', { isOurs: true });
    // Opened by the payer itself, refunded since, or never opened.
    await add('returned', { isOurs: false });
    await add('returned', { isOurs: true, status: 'refunded' });
    await add('returned', null);
    const found = await readLandedReturns(tables.views.db);
    expect(found.map((row) => row.execution_id)).to.have.members([landed, landing]);
    const journal = createJournal(tables.writes, tables.ledger.db, 'leader');
    for (const row of found) await journal.parkEnded(row);
    for (const id of [landed, landing]) {
      const row = (await journal.get(id))!;
      expect(row).to.include({ state: 'parked', lease_owner: null, refund_state: null, settled_at: null });
      expect(row).to.include({ deposit: `deposit of ${id}`, task: 'a task' });
      // It counted as expired, but it may have landed.
      expect(row.transactions.map(({ signature, outcome }) => [signature, outcome])).to.deep.equal([
        [`open of ${id}`, null],
      ]);
      expect([row.error_code, row.error_message]).to.deep.equal([null, null]);
    }
    expect(await readLandedReturns(tables.views.db)).to.deep.equal([]);
  });

  describe('without a key', () => {
    const authority = Keypair.generate().publicKey;
    const deadline = BigInt(EPOCH + 60);
    /** An open record whose rent this sponsor gets back. */
    function recordOf(rentSponsor: PublicKey, { gas = 0, keyId = Buffer.alloc(16) } = {}) {
      const id = newExecutionId();
      const data = Buffer.alloc(RECORD_SIZE);
      data.set(accountDiscriminator('ExecutionRecord'));
      data.set(parseUuid(id)!, RECORD_OFFSETS.executionId);
      data.set(keyId, RECORD_OFFSETS.keyId);
      data.set(rentSponsor.toBytes(), RECORD_OFFSETS.rentSponsor);
      data.writeUInt8(RECORD_STATUS_BYTE.open, RECORD_OFFSETS.status);
      data.writeBigInt64LE(deadline, RECORD_OFFSETS.deadline);
      data.writeUInt32LE(gas, RECORD_OFFSETS.gasLamports);
      return { id, account: { owner: PROGRAM_ID, data } };
    }
    /** 10 lamports a byte. */
    const rent = Buffer.alloc(17);
    rent.writeBigUInt64LE(10n, 0);
    rent.writeDoubleLE(1, 8);
    const [record, escrow] = [BigInt(10 * (128 + RECORD_SIZE)), BigInt(10 * (128 + 165))];

    it('are adopted after their deadline if a deposit paid for them, and count as lent to x402 clients until they end', async () => {
      const bought = recordOf(authority);
      const withKey = recordOf(authority, { keyId: Buffer.alloc(16, 1), gas: 10_700 });
      const ofWallet = recordOf(Keypair.generate().publicKey);
      const paying = recordOf(Keypair.generate().publicKey, { gas: 10_700 });
      const journal = createJournal(tables.writes, tables.ledger.db, 'leader');
      let now = deadline - 1n;
      const chain = {
        clock: () => now,
        read: async () => ({ accounts: [{ data: rent }], now, slot: 1 }),
        scanning: { getProgramAccounts: async () => [bought, withKey, ofWallet, paying] },
      };
      const authorities = { names: (address: string) => address === authority.toBase58() };
      const adopt = () => adoptOrphans({ chain, journal, authorities } as never, createLog('silent'));
      const lent = async () => {
        const { lent_keys, lent_x402 } = await journal.sumsOf('wallet', 'listing', EPOCH * 1_000);
        return [lent_keys, lent_x402];
      };
      expect(await adopt()).to.equal(1);
      expect(await lent()).to.deep.equal([record + escrow, 0n]);
      now = deadline;
      expect(await adopt()).to.equal(2);
      expect(await lent()).to.deep.equal([record + escrow, record + escrow]);
      expect(await journal.get(ofWallet.id)).to.equal(undefined);
      expect(await adopt()).to.equal(0);

      await journal.takeRowsOfOthersThan([]);
      await journal.refunded((await journal.get(bought.id))!, deadline);
      expect(await lent()).to.deep.equal([record + escrow, record]);
      expect([await journal.lentSince('keys'), await journal.lentSince('x402')]).to.deep.equal([null, deadline]);
      await journal.rentReturned([bought.id]);
      expect(await lent()).to.deep.equal([record + escrow, 0n]);
    });
  });
});

describe('deposits without a row', () => {
  const tables = useTables();

  it('are those of this deployment that have expired, and that no call can still use, oldest first', async () => {
    const rows = createRows(tables.index.db, tables.ledger.db, { nowMs: EPOCH * 1_000 });
    const expires_at = BigInt(EPOCH + 600);
    const add = async (deposit: string, prepared_at: number, changes: { rent_sponsor?: string; closed?: 1n } = {}) => {
      const money = { caller: 'payer', rent_sponsor: 'us', price: '250000', service_fee: 5_000n, slot: 1n };
      const row = { deposit, ...money, prepared_at: BigInt(prepared_at), expires_at, status: 'prepared' as const };
      const values = { ...row, ended_at: null, end_signature: null, closed: 0n as const, ...changes };
      await tables.index.db.insertInto('deposits').values(values).execute();
    };
    await noteLender(tables.ledger.db, 'us');
    await noteLender(tables.ledger.db, 'us');
    await add('closed', 1, { closed: 1n });
    await add('of another deployment', 1, { rent_sponsor: 'others' });
    for (const state of ['paid', 'returning', 'settled', 'void', 'returned'] as const) {
      await add(state, 2);
      await rows.addJournal({ wallet: 'payer', listing: 'listing', state, deposit: state });
    }
    await add('lost', 3);
    await add('lost first', 1);
    type Place = { prepared_at: bigint; deposit: string };
    const find = async (expiredBy: bigint, after: Place | null = null, limit = 9) =>
      (await readUnknownDeposits(tables.views.db, expiredBy, after, limit)).map(({ deposit }) => deposit);
    expect(await find(expires_at - 1n)).to.deep.equal([]);
    expect(await find(expires_at)).to.deep.equal(['lost first', 'returned', 'void', 'lost']);
    expect(await find(expires_at, { prepared_at: 2n, deposit: 'returned' }, 1)).to.deep.equal(['void']);
  });
});
