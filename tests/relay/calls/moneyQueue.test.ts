/**
 * Reservations: a call waits for money that earlier calls may still take, and several relays on one ledger never
 * overdraw.
 */
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { createMoneyQueue } from '../../../app/relay/execution/begin/moneyQueue.ts';
import type { PayerAccounts } from '../../../app/relay/execution/begin/payer.ts';
import { NotFunded } from '../../../app/relay/ledger/claims.ts';
import type { Funds } from '../../../app/relay/ledger/funding.ts';
import { lastOf } from '../../../app/relay/ledger/transactions.ts';
import { findTokenAccount } from '../../../app/sdk/program/program.ts';
import { createKey } from '../../../app/sdk/wallet/apiKeys.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { FREE, free } from '../../harness/edge/funding.ts';
import { executionOf, SIGNED, TIMES, useJournals, WALLET } from '../../harness/edge/journals.ts';
import { until } from '../../harness/edge/until.ts';
import { readRents } from '../../harness/node/funds.ts';
import { FEE, PRICE, useMarketplace, useRelayProcess } from '../../harness/node/marketplace.ts';
import { readShared } from '../../harness/node/sharedTransactions.ts';
import { stopAt } from '../../harness/node/standstill.ts';

const CALLS = 100;

describe('the queue for reserved money', () => {
  const { opened, mine, others } = useJournals();

  const funds = (changes: Partial<Funds> = {}): Funds => ({
    slot: 100n,
    keyId: 'key',
    price: 10n,
    wallet: 100n,
    key: 100n,
    gasBalance: 0n,
    gasBalanceRest: 890_880n,
    ...changes,
  });
  const claim = (journal: typeof mine, id: string, has: Funds, ways = [FREE]) =>
    journal.claim(executionOf(id, { price: has.price, max_cost: has.price, key_id: has.keyId }), 1, {
      ...free(),
      ways,
      funds: has,
    });
  const refusal = (promise: Promise<unknown>): Promise<NotFunded> =>
    promise.then(
      () => expect.fail('it was taken'),
      (error) => {
        expect(error).to.be.instanceOf(NotFunded);
        return error;
      },
    );

  it('give a claim the balance minus all reservations, and count an open until the accounts show it', async () => {
    const row = await claim(mine, 'one', funds({ price: 60n }));
    expect((await refusal(claim(others, 'two', funds({ price: 41n })))).sums).to.include({
      held_wallet: 60n,
      held_key: 60n,
      newest_slot: 0n,
    });
    await mine.openSigned(row, SIGNED, 60n);
    await refusal(claim(others, 'two', funds({ price: 41n })));
    await mine.openConfirmed(row, TIMES, 105);
    // Accounts read before that slot still include the sixty; accounts read at that slot do not.
    const early = await refusal(claim(others, 'two', funds({ price: 41n, slot: 104n })));
    expect(early.sums).to.include({ held_wallet: 60n, newest_slot: 105n });
    expect((await refusal(claim(others, 'two', funds({ price: 41n, slot: 105n, wallet: 40n })))).sums).to.include({
      held_wallet: 0n,
      newest_slot: 0n,
    });
    expect((await claim(others, 'two', funds({ price: 40n, slot: 105n, wallet: 40n }))).state).to.equal('accepted');
  });

  it('limit a key by its own calls and a wallet by the calls of all its keys; refused calls hold nothing', async () => {
    const row = await claim(mine, 'one', funds({ price: 60n }));
    expect((await refusal(claim(others, 'two', funds({ key: 60n })))).sums.held_key).to.equal(60n);
    const other = await claim(others, 'two', funds({ keyId: 'another', key: 10n }));
    expect(other.key_id).to.equal('another');
    await mine.openSigned(row, SIGNED, 60n);
    await mine.void(row, 'insufficient_balance', 'refused');
    expect(await mine.heldOf(WALLET, 'key', 100n)).to.include({ held_wallet: 10n, held_key: 0n });
  });

  it('ignore balances read before a refused open, on every relay, and use balances read after it', async () => {
    const row = await claim(mine, 'one', funds());
    const waiting = funds({ slot: 99n });
    await mine.openSigned(row, SIGNED, 60n);
    await mine.failed(row, lastOf(row, 'open'), 'wallet');
    await mine.void(row, 'insufficient_balance', 'refused', 101);
    for (const [journal, slot] of [
      [mine, 99n],
      [others, 100n],
    ] as const) {
      const refused = await refusal(claim(journal, 'two', { ...waiting, slot }));
      expect(refused.sums).to.include({ failed_since: 1n, newest_slot: 101n, held_wallet: 0n, held_gas_balance: 0n });
    }
    // An open that was never sent does not make the balances outdated.
    const unsent = await claim(mine, 'unsent', funds({ slot: 101n }));
    await mine.void(unsent, 'service_unavailable', 'interrupted');
    expect((await claim(others, 'two', funds({ slot: 101n }))).state).to.equal('accepted');
  });

  it('give a gas balance minus all reservations, and leave it rent-exempt or empty', async () => {
    const byGasBalance = { ...FREE, fee: 4_000n, gas: 6_000n, gasBalance: 10_000n };
    const twice = funds({ gasBalance: 890_880n + 20_000n });
    expect(await claim(mine, 'one', twice, [byGasBalance])).to.include({
      gas_balance_lamports: 10_000n,
      fee_lamports: 4_000n,
      gas_lamports: 6_000n,
    });
    await claim(others, 'two', twice, [byGasBalance]);
    expect((await refusal(claim(mine, 'three', twice, [byGasBalance]))).sums.held_gas_balance).to.equal(20_000n);
    // A sponsored call takes nothing from the gas balance.
    expect((await claim(mine, 'three', twice, [byGasBalance, FREE])).gas_balance_lamports).to.equal(0n);
    await opened.clear();
    await refusal(claim(mine, 'one', funds({ gasBalance: 10_001n }), [byGasBalance]));
    await claim(mine, 'one', funds({ gasBalance: 10_000n }), [byGasBalance]);
    await refusal(claim(others, 'two', funds({ gasBalance: 20_000n }), [byGasBalance]));
  });

  it('never promise more than there is to many concurrent claims of two relays', async () => {
    const claims = Array.from({ length: 200 }, (_, n) =>
      claim(n % 2 ? mine : others, `call ${n}`, funds({ wallet: 555n, key: 10_000n })),
    );
    const settled = await Promise.allSettled(claims);
    expect(settled.filter(({ status }) => status === 'fulfilled')).to.have.length(55);
    expect(await opened.run('SELECT sum(price) AS sum FROM executions')).to.deep.equal([{ sum: 550n }]);
  });

  it('wake the waiting calls of a wallet after a decision, and read its accounts once', async () => {
    const held = [];
    for (const [id, price] of Object.entries({ one: 10n, two: 10n, rest: 80n })) {
      held.push(await claim(mine, id, funds({ price })));
    }
    const payer = { wallet: WALLET, keyId: 'key' };
    const accountsAt = (slot: number): PayerAccounts => ({
      wallet: Keypair.generate().publicKey,
      accounts: [],
      now: 1n,
      slot,
    });
    const started = performance.now();
    let readings = 0;
    let looks = 0;
    let slot = 100;
    const counted = {
      heldOf: (...asked: Parameters<typeof mine.heldOf>) => {
        looks += 1;
        return mine.heldOf(...asked);
      },
    };
    const reservations = createMoneyQueue(counted);
    let paid = 0;
    let isOver = false;
    const calls = Array.from({ length: CALLS }, async () => {
      const found = await reservations.whenFree(payer, accountsAt(100), 60_000, {
        // By a later slot, opens that have landed have taken their money.
        fundsOf: ({ slot }) => funds({ slot: BigInt(slot), wallet: isOver ? 0n : slot > 100 ? 90n : 100n }),
        async read() {
          readings += 1;
          return accountsAt(slot);
        },
      });
      if (found && !isOver) paid += 1;
    });
    // One open is refused: its reservation is free, although no account has changed.
    await mine.openSigned(held[0]!, SIGNED, 60n);
    await mine.void(held[0]!, 'insufficient_balance', 'refused');
    reservations.wake(WALLET);
    await until('one is paid', () => paid === 1);
    expect(readings).to.equal(0);
    // The waiting call that continues claims it. The other open lands, and no money is left.
    await claim(mine, 'three', funds());
    await mine.openSigned(held[1]!, SIGNED, 60n);
    slot = 105;
    await mine.openConfirmed(held[1]!, TIMES, slot);
    reservations.wake(WALLET);
    await until('the accounts are read', () => readings > 0);
    const then = looks;
    await until('the calls have looked again', () => looks >= then + 3);
    // Without any money, waiting does not help.
    isOver = true;
    reservations.wake(WALLET);
    await Promise.all(calls);
    expect(paid).to.equal(1);
    expect(readings).to.be.within(1, 20);
    // Waiting calls look together, four times a second and when woken. Looking separately would be 100 times in that
    // interval. A busy machine can split an interval.
    const turns = 3 + (performance.now() - started) / 250;
    expect(looks).to.be.below(10 * turns);
  });

  describe('of two relays on one ledger', () => {
    const market = useMarketplace();
    const neighbour = useRelayProcess(market, { WITHOUT_INDEXER: '1', STANDSTILL: '1' });

    /** A new wallet with a key and money for this many calls, and the balances before. */
    async function fund(calls: bigint) {
      const wallet = Keypair.generate();
      await market.node.fundSol(wallet.publicKey, 10e9);
      await market.mintTo(wallet.publicKey, PRICE * calls);
      const key = { wallet: keypairSigner(wallet), name: 'its key', limits: market.limits };
      const { api_key: apiKey } = await createKey(market.marketplace, key);
      const lamports = async () => BigInt(await market.node.connection.getBalance(market.authority.publicKey));
      const [had, before] = [await lamports(), await market.balances()];
      return {
        execute: (url: string, task: string) => market.execute(url, { task }, { apiKey }),
        /** Expects that all of it was paid for calls, and that the relay has spent these fees and lent the records. */
        async requirePaid(fees: bigint): Promise<void> {
          expect(await market.amountOf(findTokenAccount(wallet.publicKey, market.usdcMint))).to.equal(0n);
          const after = await market.balances();
          expect(after.creator).to.equal(before.creator + (PRICE - FEE) * calls);
          expect(after.treasury).to.equal(before.treasury + FEE * calls);
          const { record } = await readRents(market);
          expect(had - (await lamports())).to.equal(fees + calls * record);
        },
      };
    }

    it('refuse a claim whose accounts are older than an open that took the money, and burn no fee', async () => {
      const { execute, requirePaid } = await fund(1n);
      const task = stopAt('claim:before');
      const waiting = execute(neighbour.url, task);
      await until('it stands', () => neighbour.standing.has(task));
      const paid = await execute(market.relay.url, 'the last of the money');
      expect(paid.status).to.equal(200);
      neighbour.release(task);
      const refused = await waiting;
      expect([refused.status, refused.body.error?.code]).to.deep.equal([402, 'insufficient_balance']);
      // Without the fee of a failed open.
      await requirePaid(10_000n);
    });

    it('pay as many concurrent calls as the last USDC covers, and burn no fee for the others', async () => {
      const { execute, requirePaid } = await fund(5n);
      const urls = [market.relay.url, neighbour.url];
      const answers = await Promise.all(Array.from({ length: 24 }, (_, n) => execute(urls[n % 2]!, `race ${n}`)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([...Array(5).fill(200), ...Array(19).fill(402)]);
      // An open and a settle for each paid call, which may share their transactions, and nothing for any other call.
      const shared = readShared(market);
      const landed = (await shared.signedFor('race ')).filter(({ outcome }) => outcome !== 'expired');
      expect(landed.map(({ kind, outcome }) => [kind, outcome]).sort()).to.deep.equal([
        ...Array(5).fill(['open', 'landed']),
        ...Array(5).fill(['settle', 'landed']),
      ]);
      await requirePaid(await shared.requireExactFees(landed));
    });
  });
});
