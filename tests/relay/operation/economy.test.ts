/**
 * What ten SOL of the operator carry, on the real node, at a hundredth of the size: 25 calls in the time for which a
 * record lives, as 2,500 with 10 SOL. The clock moves through two such times. No caller with gas is refused, and every
 * lamport is accounted for at the end.
 */
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { constants, findArchive, findSpender } from '../../../app/sdk/program/program.ts';
import { readTransaction } from '../../../app/sdk/program/transaction.ts';
import { until } from '../../harness/edge/until.ts';
import { readRents } from '../../harness/node/funds.ts';
import { FEE, PRICE, type TestMarketplace, useMarketplace } from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';

/** A hundredth of 10 SOL less the reserve of 0.1. */
const LENT = 99_000_000;
/** A fifth of the calls that must be served while a record lives, and how often that happens. */
const [CALLS, STEPS] = [5, 10];
const LIFE = constants.recordSecondsMin;
/** How long an archivable record waits for others, by default. */
const ARCHIVE_WAIT_SECONDS = 600;
/** What a call takes from its gas balance for network fees, lamports. */
const FEES = 10_700;
const GAS = 20_000_000;
const LIMIT_MS = 120_000;

describe('the SOL that an operator lends', () => {
  let relay: RunningRelay;
  // It archives for both relays.
  const market = useMarketplace({ environment: { ARCHIVE: 'on' } });
  before(async () => {
    relay = await startRelayHere(market, { LENT_LAMPORTS: String(LENT) });
    for (const { wallet } of market.callers) await market.node.fundSol(findSpender(wallet.publicKey), GAS);
  });
  after(async () => {
    await relay?.stop();
  });

  const lamportsOf = (address: Parameters<TestMarketplace['node']['connection']['getBalance']>[0]) =>
    market.node.connection.getBalance(address, 'confirmed');
  const lent = async (): Promise<number> => {
    const sum = 'SELECT CAST(coalesce(sum(lamports), 0) AS BIGINT) AS lamports FROM lent_sums';
    return Number((await market.query('ledger', sum))[0].lamports);
  };
  /** Moves the clock, and waits until every record that has become ripe is archived and counted as returned. */
  async function pass(seconds: number): Promise<void> {
    const now = (await market.node.now()) + seconds;
    await market.node.timeTravel(now);
    const late = `SELECT count(*) AS n FROM executions WHERE record_lent > 0
      AND settled_at < ${now - LIFE - ARCHIVE_WAIT_SECONDS}`;
    await until(
      'the ripe records are archived',
      async () => {
        await relay.engine.countRents();
        return (await market.query('ledger', late))[0].n === 0n;
      },
      LIMIT_MS,
    );
  }
  /** Fees of all transactions that the relay authority has paid since this one. */
  async function feesSince(signature: string): Promise<number> {
    const { connection } = market.node;
    const listed = await connection.getSignaturesForAddress(
      market.authority.publicKey,
      { until: signature },
      'confirmed',
    );
    const fees = listed.map(async (one) => (await readTransaction(connection, one.signature))!.meta!.fee);
    return (await Promise.all(fees)).reduce((sum, fee) => sum + fee, 0);
  }

  it('carries 2,500 calls an hour for each ten SOL, refuses nobody with gas, and comes back to the lamport', async () => {
    const { connection } = market.node;
    const authority = market.authority.publicKey;
    await market.node.rpc('requestAirdrop', [authority.toBase58(), 1_000_000_000]);
    const newest = () => connection.getSignaturesForAddress(authority, { limit: 1 }, 'confirmed');
    await until('it has come', async () => (await newest()).length > 0);
    const first = (await newest())[0]!.signature;
    const [hadAuthority, had] = [await lamportsOf(authority), await market.balances()];
    const { record } = await readRents(market);

    let most = 0;
    for (let step = 0; step < STEPS; step += 1) {
      for (let call = 0; call < CALLS; call += 1) {
        const answer = await market.execute(relay.url, { task: `step ${step}, call ${call}` }, { caller: call % 2 });
        expect(answer.status, answer.text).to.equal(200);
      }
      most = Math.max(most, await lent());
      await pass(LIFE / 5);
    }
    const calls = STEPS * CALLS;
    // Every record was lent, and never more than keys may have.
    const own = await market.query('ledger', 'SELECT count(*) AS n FROM executions WHERE escrow_lent > 0');
    expect(own).to.deep.equal([{ n: 0n }]);
    expect(most).to.be.within(5 * CALLS * Number(record), (LENT * 3) / 4);

    await pass(LIFE + ARCHIVE_WAIT_SECONDS + 60);
    expect(await lent()).to.equal(0);
    const tree = await connection.getMinimumBalanceForRentExemption(constants.archiveTreeBytes);
    const archive = await lamportsOf(findArchive(0));
    const spent = tree + archive + (await feesSince(first)) - calls * FEES;
    expect(await lamportsOf(authority)).to.equal(hadAuthority - spent);
    const gasBalances = await Promise.all(
      market.callers.map(({ wallet }) => lamportsOf(findSpender(wallet.publicKey))),
    );
    expect(gasBalances.reduce((sum, lamports) => sum + lamports, 0)).to.equal(2 * GAS - calls * FEES);
    expect(await market.balances()).to.deep.equal({
      callers: had.callers.map((usdc, n) => usdc - PRICE * BigInt(STEPS * (n === 0 ? 3 : 2))),
      creator: had.creator + (PRICE - FEE) * BigInt(calls),
      treasury: had.treasury + FEE * BigInt(calls),
    });
    expect(await market.query('ledger', 'SELECT * FROM debts')).to.deep.equal([]);
    // The network fees of the archive are paid too.
    const collected = `SELECT CAST(sum(fee_lamports + gas_lamports) AS BIGINT) AS collected FROM executions`;
    expect(await market.query('ledger', collected)).to.deep.equal([{ collected: BigInt(calls * FEES) }]);
  });
});
