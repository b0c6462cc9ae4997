/** Ended rows on a real ledger: the proof of their ends against the chain, and the return of their rent. */
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { sql } from 'kysely';
import { proveEnds } from '../../../app/relay/execution/finality.ts';
import type { EngineDeps } from '../../../app/relay/execution/step.ts';
import { createLog } from '../../../app/relay/log.ts';
import { accountDiscriminator, DEPOSIT_OFFSETS } from '../../../app/sdk/program/program.ts';
import { free, ON_HOUSE } from '../../harness/edge/funding.ts';
import { depositOf, executionOf, type Journals, openJournals, SIGNED, TIMES } from '../../harness/edge/journals.ts';
import { until } from '../../harness/edge/until.ts';
import { onPostgres } from '../../harness/postgres.ts';

/** Long after the ends of all rows here, unix seconds. */
const LATER = 10n ** 12n;
const WHY = { code: 'payment_required', message: '', rebuilds: 0n };

const idOf = (number: number) => `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`;
const address = () => Keypair.generate().publicKey.toBase58();

describe('finality', () => {
  let opened: Journals;
  let mine: Journals['mine'];
  before(async () => {
    opened = await openJournals();
    mine = opened.mine;
  });
  after(() => opened.close());
  beforeEach(() => opened.clear());

  /** The data of a deposit of this caller. */
  function depositData(caller: string): Buffer {
    const data = Buffer.alloc(1_024);
    data.set(accountDiscriminator('Deposit'));
    data.set(new PublicKey(caller).toBytes(), DEPOSIT_OFFSETS.caller);
    return data;
  }
  /** Proves the ends on a finalized chain with only these accounts. */
  async function prove(accounts: Record<string, Buffer> = {}): Promise<void> {
    const read = async (keys: PublicKey[]) => ({
      accounts: keys.map((key) => (accounts[key.toBase58()] ? { data: accounts[key.toBase58()] } : null)),
      now: LATER,
      slot: 1,
    });
    const finalized = async () => ({ slot: 1, blockHeight: 1_000n });
    const chain = { finalized, readAgreed: read, hasSucceeded: async () => true };
    const deps = { chain, journal: mine, usdcMint: PublicKey.default, rentReturn: PublicKey.default };
    await proveEnds(deps as unknown as EngineDeps, createLog('silent'));
  }
  /** A call whose payment would have failed: it is void, and its end is not final yet. */
  async function leaveUnpaid(number: number, deposit: string, wallet = address()): Promise<void> {
    const row = await startReturn(number, deposit, wallet);
    await mine.void(row, WHY.code, WHY.message, { slot: 1, burnt: 10_000n });
  }
  async function startReturn(number: number, deposit: string, wallet: string) {
    const row = await mine.claimDeposit(depositOf(idOf(number), { deposit, wallet }), number, free());
    await mine.depositSigned(row, SIGNED);
    await mine.depositConfirmed(row);
    await mine.returning(row, SIGNED, WHY);
    return row;
  }
  async function refund(number: number): Promise<void> {
    const row = await mine.claim(executionOf(idOf(number), { listing: address() }), number, free());
    await mine.openSigned(row, SIGNED, 60n);
    await mine.openConfirmed(row, TIMES, 1);
    await mine.refunding(row, SIGNED, { reason: 0, code: 'execution_failed', message: '', rebuilds: 0n });
    await mine.refunded(row, 2n);
  }
  const seen = async (number: number) => {
    const { state, is_final } = (await mine.get(idOf(number)))!;
    return `${state} ${is_final}`;
  };

  it('takes back a return that the chain rolled back, but not for the deposit that another wallet has since', async () => {
    const [first, second, deposit] = [address(), address(), address()];
    await leaveUnpaid(1, deposit, first);
    // Another wallet uses the same quote, which names no payer.
    await startReturn(2, deposit, second);
    await prove({ [deposit]: depositData(second) });
    expect([await seen(1), await seen(2)]).to.deep.equal(['void 1', 'returning 0']);
    const own = address();
    await leaveUnpaid(3, own, first);
    await prove({ [own]: depositData(first) });
    expect(await seen(3)).to.equal('returning 0');
  });

  it('proves the other rows if some cannot be checked or corrected, even if they would fill a batch', async () => {
    const [wallet, taken, broken] = [address(), address(), address()];
    await leaveUnpaid(1, taken, wallet);
    // The first row cannot have its deposit back while another row has it.
    await startReturn(2, taken, address());
    for (let number = 3; number < 103; number += 1) await leaveUnpaid(number, broken);
    await refund(103);
    const chain = { [taken]: depositData(wallet), [broken]: Buffer.from('no deposit') };
    await prove(chain);
    expect(await Promise.all([1, 2, 3, 102, 103].map(seen))).to.deep.equal([
      'void 0',
      'returning 0',
      'void 0',
      'void 0',
      'refunded 1',
    ]);
    // The next run tries them again.
    await mine.returned((await mine.get(idOf(2)))!, 2n);
    await opened.run(`DELETE FROM executions WHERE execution_id = '${idOf(2)}'`);
    await prove({ [taken]: depositData(wallet) });
    expect(await Promise.all([1, 3, 102].map(seen))).to.deep.equal(['returning 0', 'void 1', 'void 1']);
  });

  for (const [name, refundState] of [
    ['rentReturned', 'done'],
    ['escrowsClosed', 'handed_over'],
  ] as const) {
    it(`counts rents that came back (${name}) without a deadlock with a call of one of their agents`, async function () {
      // SQLite has one writer.
      if (!onPostgres) this.skip();
      const ways = [{ ...ON_HOUSE, recordRent: 100n, escrowRent: 7n }];
      const lend = async (number: number, listing: string) => {
        const changes = { listing, wallet: `wallet ${number}` };
        const row = await mine.claim(executionOf(idOf(number), changes), number, { ...free(), ways });
        await mine.openSigned(row, SIGNED, 60n);
        await mine.openConfirmed(row, TIMES, 1);
        await mine.refunding(row, SIGNED, { reason: 0, code: 'execution_failed', message: '', rebuilds: 0n });
        return row;
      };
      const ended = [await lend(1, 'one agent'), await lend(2, 'another agent')];
      const running = await lend(3, 'another agent');
      for (const row of ended) await mine.refunded(row, 2n, 0n, refundState);
      const areWaiting = (count: number) =>
        until(`${count} transactions wait`, async () => {
          const [{ n }] = await opened.run('SELECT count(*) AS n FROM pg_locks WHERE NOT granted');
          return n >= count;
        });
      // The last sum of the first row is locked until both others wait.
      const both = await opened.ledger.transaction().execute(async (locking) => {
        await sql`UPDATE lent_sums SET lamports = lamports WHERE scope = 'wallet' AND name = 'wallet 1'`.execute(
          locking,
        );
        const counting = mine[name](ended.map((row) => row.execution_id));
        await areWaiting(1);
        const moving = mine.refunded(running, 2n);
        await areWaiting(2);
        return { ends: Promise.allSettled([counting, moving]) };
      });
      expect((await both.ends).map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled']);
    });
  }
});
