/** What the operator lends and pays for others, on a real ledger that relays share: rents, and on-chain revocations. */
import { type AccountInfo, type PublicKey, SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import { sql } from 'kysely';
import { countRents } from '../../../app/relay/execution/recovery/rents.ts';
import { countRevocation } from '../../../app/relay/ledger/revocations.ts';
import { findExecution, PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { FREE, free } from '../../harness/edge/funding.ts';
import { executionOf, SIGNED, TIMES, useJournals } from '../../harness/edge/journals.ts';
import { until } from '../../harness/edge/until.ts';
import { onPostgres } from '../../harness/postgres.ts';

const idOf = (number: number) => `00000000-0000-8000-8000-${String(number).padStart(12, '0')}`;

describe('lent rents', () => {
  const { opened, mine } = useJournals();

  it("counts the rent of a closed record although a stranger's lamports lie at its address", async () => {
    const ids = [idOf(1), idOf(2), idOf(3)];
    for (const [at, id] of ids.entries()) {
      const way = { ...FREE, recordRent: 100n };
      const row = await mine.claim(executionOf(id), at, { ...free(), ways: [way] });
      await mine.openSigned(row, SIGNED, 60n);
      await mine.openConfirmed(row, TIMES, 1);
      await mine.refunding(row, SIGNED, { reason: 0, code: 'execution_failed', message: '', rebuilds: 0n });
      await mine.refunded(row, 2n);
    }
    const account = (owner: PublicKey): AccountInfo<Buffer> => {
      return { owner, lamports: 650_240, data: Buffer.alloc(0), executable: false };
    };
    const [closed, funded, open] = ids.map((id) => findExecution(parseUuid(id)!).toBase58());
    const accounts = new Map([
      [closed!, null],
      [funded!, account(SystemProgram.programId)],
      [open!, account(PROGRAM_ID)],
    ]);
    const readAgreed = async (keys: PublicKey[]) => {
      return { accounts: keys.map((key) => accounts.get(key.toBase58()) ?? null), now: 2n ** 40n, slot: 1 };
    };
    await countRents({ readAgreed }, mine);
    const lent = await Promise.all(ids.map(async (id) => (await mine.get(id))!.record_lent));
    expect(lent).to.deep.equal([0n, 0n, 100n]);
  });

  it('counts rents that came back without a deadlock with another call', async function () {
    // SQLite has one writer.
    if (!onPostgres) this.skip();
    const ways = [{ ...FREE, recordRent: 100n, escrowRent: 7n }];
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
    for (const row of ended) await mine.refunded(row, 2n);
    const areWaiting = (count: number) =>
      until(`${count} transactions wait`, async () => {
        const [{ n }] = await opened.run('SELECT count(*) AS n FROM pg_locks WHERE NOT granted');
        return n >= count;
      });
    // The sum is locked until both others wait.
    const both = await opened.ledger.transaction().execute(async (locking) => {
      await sql`UPDATE lent_sums SET lamports = lamports WHERE kind = 'keys'`.execute(locking);
      const counting = mine.rentReturned(ended.map((row) => row.execution_id));
      await areWaiting(1);
      const moving = mine.refunded(running, 2n);
      await areWaiting(2);
      return { ends: Promise.allSettled([counting, moving]) };
    });
    expect((await both.ends).map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled']);
  });

  it('are not the only budget: revocations are paid within theirs, however many arrive at once at two relays', async () => {
    const count = (n: number) =>
      countRevocation(
        n % 2 === 0 ? opened.ledger : opened.elsewhere,
        { wallet: `wallet ${n % 3}`, fee: 5_000n, nowMs: 1 },
        { wallet: 10_000n, total: 25_000n },
      );
    const largest =
      'SELECT max(spent) AS most FROM (SELECT sum(fee) AS spent FROM revocations GROUP BY wallet) AS all_of';
    for (let round = 0; round < 5; round += 1) {
      await opened.run('DELETE FROM revocations');
      const counted = await Promise.all(Array.from({ length: 60 }, (_, n) => count(n)));
      expect(counted.filter((isCounted) => isCounted)).to.have.length(5);
      const [{ most }] = await opened.run(largest);
      expect(BigInt(most) <= 10_000n).to.equal(true);
    }
  });
});
