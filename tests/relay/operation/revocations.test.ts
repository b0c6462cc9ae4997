/** The budget for on-chain revocations, shared by relays on one ledger. */
import { expect } from 'chai';
import { countRevocation } from '../../../app/relay/ledger/revocations.ts';
import { type Journals, openJournals } from '../../harness/edge/journals.ts';

describe('revocations', () => {
  let opened: Journals;
  before(async () => {
    opened = await openJournals();
  });
  after(() => opened.close());

  it('are paid within their budget, however many arrive at once at two relays', async () => {
    const count = (n: number) =>
      countRevocation(
        n % 2 === 0 ? opened.ledger : opened.elsewhere,
        { wallet: `wallet ${n % 3}`, fee: 5_000n, nowMs: 1 },
        { wallet: 10_000n, total: 25_000n },
      );
    for (let round = 0; round < 20; round += 1) {
      await opened.run('DELETE FROM revocations');
      const counted = await Promise.all(Array.from({ length: 60 }, (_, n) => count(n)));
      expect(counted.filter((isCounted) => isCounted)).to.have.length(5);
      const [{ most }] = await opened.run(
        'SELECT max(spent) AS most FROM (SELECT sum(fee) AS spent FROM revocations GROUP BY wallet) AS wallets',
      );
      expect(BigInt(most) <= 10_000n).to.equal(true);
    }
  });
});
