/**
 * The rent per byte falls while calls are in progress, on the real node. Each account returns the rent that was paid
 * for it, to its lender. New accounts need the current rent.
 */
import type { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { constants, findArchive, findExecution, findSpender } from '../../../app/sdk/program/program.ts';
import { readTransaction } from '../../../app/sdk/program/transaction.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { deferred, until } from '../../harness/edge/until.ts';
import {
  type Answer,
  afterPaying,
  failedAnswer,
  goodAnswer,
  request,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { startRelayHere } from '../../harness/node/relayHere.ts';

/** Bytes that rent is paid for: the account's data and 128 bytes of the runtime. */
const [EMPTY, RECORD, ESCROW] = [128, 128 + 295, 128 + 165];
/** Lamports that a gas balance pays: for an open, and for an end with its share of the archive. */
const GAS = 10_700;
/** Lamports per byte: today's on clusters, and two of the planned reductions. */
const FALLS = [
  [6_960, 5_080],
  [5_080, 696],
] as const;
const LIMIT_MS = 120_000;

describe('a change of the rent', function () {
  // Each step depends on the one before it.
  this.bail(true);
  /** A relay that lends nothing. */
  let strict: RunningRelay;
  /** Executions that have ended so far. */
  const ended: string[] = [];
  let [relayAtStart, lentSoFar] = [0, 0];
  /** The newest transaction of the relay authority before the first call. */
  let newest: string;
  let gasBalanceAtStart = 0;

  const market = useMarketplace({ environment: { ARCHIVE: 'on', ARCHIVE_WAIT_SECONDS: '0' } });
  before(async () => {
    strict = await startRelayHere(market, {
      LENT_LAMPORTS: '0',
      ARCHIVE: 'off',
    });
    // The authority needs one transaction to count from.
    await market.node.rpc('requestAirdrop', [market.authority.publicKey.toBase58(), 1_000_000_000]);
    await until('it has come', async () => (await signatures()).length > 0);
    newest = (await signatures())[0]!.signature;
    relayAtStart = await lamportsOf(market.authority.publicKey);
  });
  after(async () => {
    await strict?.stop();
  });

  const setRent = (lamportsPerByte: number) => market.node.rpc('surfnet_setRent', [{ lamportsPerByte }]);
  const lamportsOf = (address: PublicKey) => market.node.connection.getBalance(address, 'confirmed');
  const gasBalanceOf = ({ wallet }: { wallet: Keypair }) => findSpender(wallet.publicKey);
  const recordOf = (id: string) => findExecution(parseUuid(id)!);
  const signatures = () =>
    market.node.connection.getSignaturesForAddress(
      market.authority.publicKey,
      newest ? { until: newest } : {},
      'confirmed',
    );
  /** Fees of all transactions of the relay authority since the start. */
  async function feesPaid(): Promise<number> {
    const fees = (await signatures()).map(async ({ signature }) => {
      return (await readTransaction(market.node.connection, signature))!.meta!.fee;
    });
    return (await Promise.all(fees)).reduce((sum, fee) => sum + fee, 0);
  }
  /** Rent that is lent, by the ledger. */
  async function lent(): Promise<number> {
    const [row] = await market.query(
      'ledger',
      'SELECT CAST(coalesce(sum(lamports), 0) AS BIGINT) AS lamports FROM lent_sums',
    );
    return Number(row?.lamports ?? 0);
  }
  const execute = (task: string, more: object = {}, caller = 0, url = market.relay.url): Promise<Answer> =>
    market.execute(url, { task, ...more }, { caller });

  for (const [from, to] of FALLS) {
    it(`pays or refunds earlier and running calls and returns lent rent unchanged, from ${from} to ${to}`, async () => {
      await setRent(from);
      const before = await market.balances();
      const { promise: released, resolve: release } = deferred();
      market.setBehaviour(async ({ execution_id: id, task }, _response, reply) => {
        if (task.startsWith('across')) await released;
        reply(task.endsWith('paid') ? goodAnswer(market.signingKey, id, 'done') : failedAnswer(id));
      });
      const paid = await execute('before, paid');
      const refunded = await execute('before, refunded');
      expect([paid.status, refunded.status], paid.text).to.deep.equal([200, 500]);
      const across = await Promise.all(
        ['across, paid', 'across, refunded'].map((task) => execute(task, { async: true })),
      );
      const ids = [paid.body, refunded.body.error, ...across.map(({ body }) => body)].map((body) => body.execution_id);

      await setRent(to);
      release();
      const apiKey = market.callers[0]!.apiKey;
      const statusOf = async (id: string) =>
        (await request(market.relay.url, `/v1/executions/${id}`, { apiKey })).body.status;
      await until(
        'those across it have ended',
        async () => {
          const statuses = await Promise.all(ids.map(statusOf));
          return statuses.join() === 'completed,failed,completed,failed';
        },
        LIMIT_MS,
      );
      expect(await market.balances()).to.deep.equal(afterPaying(before, 2n));
      for (const id of ids) {
        expect(await market.escrowExists(id)).to.equal(false);
        expect(await lamportsOf(recordOf(id))).to.equal(RECORD * from);
      }
      lentSoFar += ids.length * RECORD * from;
      expect(await lent()).to.equal(lentSoFar);
      expect(await lamportsOf(market.authority.publicKey)).to.equal(relayAtStart - lentSoFar - (await feesPaid()));
      ended.push(...ids);
    });
  }

  it('requires the current rent of a gas balance that lends it, and returns it', async () => {
    market.setBehaviour(null);
    const gasBalance = gasBalanceOf(market.callers[1]!);
    const need = (perByte: number) => GAS + (RECORD + ESCROW + EMPTY) * perByte;
    gasBalanceAtStart = need(5_080);
    await market.node.fundSol(gasBalance, gasBalanceAtStart);
    await setRent(6_960);
    const refused = await execute('too dear', {}, 1, strict.url);
    expect([refused.status, refused.body.error.code], refused.text).to.deep.equal([503, 'service_unavailable']);
    expect(refused.body.error.message).to.include(`it has ${gasBalanceAtStart} lamports left and needs ${need(6_960)}`);
    expect(await lamportsOf(gasBalance)).to.equal(gasBalanceAtStart);

    await setRent(5_080);
    const answer = await execute('within', {}, 1, strict.url);
    expect(answer.status, answer.text).to.equal(200);
    expect(await lamportsOf(gasBalance)).to.equal(gasBalanceAtStart - GAS - RECORD * 5_080);
    expect(await lent()).to.equal(lentSoFar);
    ended.push(answer.body.execution_id);
  });

  it('archives or closes all records at the lowest rent after an hour, and every lender is repaid', async () => {
    await setRent(696);
    const countEnded = "SELECT count(*) AS n FROM executions WHERE status <> 'open'";
    await until(
      'the index has them all',
      async () => {
        const [row] = await market.query('index', countEnded);
        return Number(row.n) === ended.length;
      },
      LIMIT_MS,
    );
    await market.node.timeTravel((await market.node.now()) + constants.recordSecondsMin + 60);
    await until(
      'no record is left',
      async () => {
        const accounts = await market.node.connection.getMultipleAccountsInfo(ended.map(recordOf), 'confirmed');
        return accounts.every((account) => account === null);
      },
      LIMIT_MS,
    );
    // The relay itself counts rents every minute, and only what is final.
    await until(
      'the ledger knows that nothing is lent',
      async () => {
        await strict.engine.countRents();
        return (await lent()) === 0;
      },
      LIMIT_MS,
    );
    const tree = await market.node.connection.getMinimumBalanceForRentExemption(constants.archiveTreeBytes);
    const archive = await lamportsOf(findArchive(0));
    expect(tree).to.equal((EMPTY + constants.archiveTreeBytes) * 696);
    // The caller paid the gas of the call with a gas balance.
    const spent = tree + archive + (await feesPaid()) - GAS;
    expect(await lamportsOf(market.authority.publicKey)).to.equal(relayAtStart - spent);
    expect(await lamportsOf(gasBalanceOf(market.callers[1]!))).to.equal(gasBalanceAtStart - GAS);
  });
});
