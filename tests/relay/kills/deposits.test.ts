/**
 * The kill matrix of x402 calls. A real relay process is killed at every journal move of a deposit and at every
 * transaction of it. Another relay on the ledger, or the restarted one, continues. In every case each payer has paid
 * once and has its result, or has its money back, and no deposit is left.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import {
  constants,
  findEscrow,
  findExecution,
  findTokenAccount,
  findTreasury,
  refundDeposit,
} from '../../../app/sdk/program/program.ts';
import { parseUuid } from '../../../app/sdk/receipt/receipt.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { changeStatus } from '../../../app/sdk/wallet/upkeep.ts';
import { until } from '../../harness/edge/until.ts';
import { createBuyers, PAYMENT_LAMPORTS, SERVICE_FEE, type SignedPayment, TOTAL } from '../../harness/node/buyers.ts';
import {
  type Answer,
  FEE,
  failedAnswer,
  goodAnswer,
  PRICE,
  type RelayHandle,
  type TestMarketplace,
  useMarketplace,
} from '../../harness/node/marketplace.ts';
import { stopAt } from '../../harness/node/standstill.ts';
import { decodeHeader } from '../../harness/node/x402.ts';
import { onPostgres } from '../../harness/postgres.ts';

const RETRY_MS = 250;
const SIGNATURE_LAMPORTS = 5_000;
const sidesOf = (moves: string[]) => moves.flatMap((move) => [`${move}:before`, `${move}:after`]);
const sendsOf = (name: string) => ['before', 'sent', 'after'].map((side) => `send-${name}:${side}`);
/** Points at which the payment was not sent. If its blockhash expires before a relay continues, it is never charged. */
const UNPAID = [
  ...sidesOf(['claimDeposit', 'depositSigned']),
  ...sendsOf('deposit'),
  ...sidesOf(['depositConfirmed', 'paySigned']),
  'send-pay:before',
];
const PAYING = [...UNPAID, 'send-pay:sent', 'send-pay:after', 'paid:before'];
const RETURN = [...sidesOf(['returning']), ...sendsOf('return')];

/** A course of a call, and the points at which the relay is killed. */
interface Way {
  /** Where calls first stop, so that the test can change something. Without it, they stop only at their kill point. */
  gate?: string;
  points: string[];
}
const WAYS = {
  served: {
    points: [
      ...PAYING,
      'paid:after',
      ...sidesOf(['openSigned', 'openSignedEarly', 'openConfirmed', 'settled']),
      ...sendsOf('open'),
    ],
  },
  /** The creator fails. */
  refunded: { points: [...sidesOf(['refunding', 'refunded']), ...sendsOf('refund')] },
  /** The payer pays the deposit itself, before the relay signs the payment. */
  paidByPayer: { gate: 'depositConfirmed:after', points: sidesOf(['paid']) },
  /** The creator pauses the agent once the money is in the deposit. */
  returned: { gate: 'paid:after', points: ['paid:after', ...RETURN, ...sidesOf(['returned'])] },
  /** The creator pauses the agent before the relay signs the payment. */
  unsigned: { gate: 'depositConfirmed:after', points: ['depositConfirmed:after', ...RETURN, ...sidesOf(['void'])] },
  /** The money leaves the payer's account after the relay signed the payment. */
  failed: { gate: 'send-pay:before', points: [...RETURN, ...sidesOf(['void'])] },
  /** The deposit is sent too late. */
  expired: { gate: 'depositSigned:after', points: sidesOf(['void']) },
  /** The open expires before it is sent, so the relay signs another one. */
  reopened: { gate: 'send-open:before', points: sidesOf(['openSigned']) },
  /** The paid deposit expires while no relay works. */
  lapsed: { points: ['paid:after', 'openSigned:after'] },
  /** The paid deposit expires, and a stranger refunds it. */
  refundedByStranger: { gate: 'paid:after', points: sidesOf(['returned']) },
} satisfies Record<string, Way>;
type Name = keyof typeof WAYS;
/** Of what can depend on the database: a relay that takes over finds the row as each move has left it. */
const isTried = (point: string) => !onPostgres || /^(?!send-).*:after$/.test(point);

/** Relays that share a ledger have PostgreSQL. How a killed relay starts again does not depend on the database. */
const HOW = onPostgres ? 'taken over' : 'started again';

/** A payment of this task. */
type Bought = SignedPayment & { task: string };

interface Doomed extends Bought {
  way: Name;
  gate: string;
  point: string;
}

describe('kill -9 of a relay that holds deposits', () => {
  const feePayer = Keypair.generate();

  const market = useMarketplace({ here: true, slotTimeMs: 200, feePayer });
  before(async () => {
    await market.relay.kill();
    market.setBehaviour((body, _response, reply) =>
      reply(
        body.task.includes('refunded')
          ? failedAnswer(body.execution_id)
          : goodAnswer(market.signingKey, body.execution_id, `done: ${body.task}`),
      ),
    );
  });

  const relays: RelayHandle[] = [];
  async function start(...environment: Parameters<TestMarketplace['startRelayProcess']>): Promise<RelayHandle> {
    const [settings, ...rest] = environment;
    const relay = await market.startRelayProcess({ TRUST_PROXY: '1', ...settings }, ...rest);
    relays.push(relay);
    return relay;
  }
  // Otherwise a failed test's relay would run in the next test.
  afterEach(async () => {
    for (const relay of relays.splice(0)) await relay.kill();
  });

  const { ask, sign, rich, usdcOf, lamports, isGone, endOf } = createBuyers(market);
  /** Pays, and repeats the payment after a 503, as the client does. */
  async function pay(relay: RelayHandle, { send }: Bought): Promise<void> {
    for (;;) {
      const answer = await send(relay.url).catch(() => null);
      if (answer?.status !== 503) return;
      await sleep(RETRY_MS);
    }
  }

  const balances = async () => ({
    creator: await market.amountOf(market.creatorUsdc),
    treasury: await market.amountOf(findTreasury()),
    feePayer: await lamports(feePayer),
  });

  async function prepare({ url }: RelayHandle, task: string, usdc = TOTAL): Promise<Bought> {
    return { task, ...(await sign({ task }, { by: await rich(usdc), url })) };
  }

  async function setStatus(status: 'active' | 'paused', relay: RelayHandle): Promise<void> {
    const creator = keypairSigner(market.creator);
    await changeStatus(market.marketplace, { wallet: creator, agentId: new PublicKey(market.agentId), status });
    const known = status === 'active' ? 402 : 422;
    await until(
      `the agent is ${status}`,
      async () => (await ask({ task: 'known?' }, { url: relay.url })).status === known,
    );
  }

  /**
   * Pays for one call for each point of these courses. Each then waits at its gate or at its kill point.
   */
  async function begin(relay: RelayHandle, ways: Name[]) {
    const prepareAt = async (way: Name, point: string): Promise<Doomed> => {
      const { gate = point }: Way = WAYS[way];
      const task = stopAt(gate, `${way} ${point}`);
      const one = await prepare(relay, task, way === 'paidByPayer' ? 2n * TOTAL : TOTAL);
      return { ...one, way, gate, point };
    };
    const doomed = await Promise.all(
      ways.flatMap((way) => WAYS[way].points.filter(isTried).map((point) => prepareAt(way, point))),
    );
    const answered = Promise.all(doomed.map((one) => pay(relay, one)));
    await until('all stand', async () => doomed.every(({ task }) => relay.standing.has(task)));
    return { doomed, answered, of: (way: Name) => doomed.filter((one) => one.way === way) };
  }

  /** Releases the calls from their gates, up to their kill points. */
  function release(relay: RelayHandle, doomed: Doomed[]): void {
    for (const { task, gate, point } of doomed) {
      if (gate !== point) relay.release(task, point);
    }
  }

  async function untilDoomed(relay: RelayHandle, doomed: Doomed[]): Promise<void> {
    const stands = ({ task, gate, point }: Doomed) => relay.standing.has(gate === point ? task : `${task} at ${point}`);
    await until('each stands where it is killed', async () => doomed.every(stands));
  }

  async function killAll(
    relay: RelayHandle,
    { doomed, answered }: { doomed: Doomed[]; answered: Promise<unknown> },
  ): Promise<void> {
    await untilDoomed(relay, doomed);
    await relay.kill();
    await answered;
  }

  /** Asks a relay for the end of each call, by its course and kill point. Its deposit must be gone then. */
  async function endAll(
    relay: RelayHandle,
    doomed: Doomed[],
    check: (answer: Answer, one: Doomed, name: string) => Promise<void> | void,
  ): Promise<void> {
    for (const one of doomed) {
      const name = `${one.way} ${one.point}`;
      await check(await endOf(() => one.send(relay.url)), one, name);
      expect(await isGone(one.deposit), name).to.equal(true);
    }
  }

  /** The state of each call's row, and the signature of its open, by course and kill point. */
  async function rowsOf(doomed: Doomed[]): Promise<Record<string, { state: string; open: string | null }>> {
    const rows = await market.query(
      'ledger',
      `SELECT task, state, (SELECT signature FROM transactions AS t WHERE t.execution_id = e.execution_id AND kind = 'open'
        ORDER BY attempt DESC LIMIT 1) AS open FROM executions AS e`,
    );
    return Object.fromEntries(
      doomed.map(({ way, point, task }) => {
        const { state, open } = rows.find((row) => row.task === task)!;
        return [`${way} ${point}`, { state, open }];
      }),
    );
  }

  /** The outcomes of a call's transactions of one kind, the oldest first. */
  async function outcomesOf(task: string, kind: string): Promise<(string | null)[]> {
    const rows = await market.query(
      'ledger',
      `SELECT outcome FROM executions JOIN transactions USING (execution_id)
        WHERE task = '${task}' AND kind = '${kind}' ORDER BY attempt`,
    );
    return rows.map(({ outcome }) => outcome);
  }

  /** Expects that the payment was sent back. Returns its receipt. */
  function requireSentBack(answer: Answer, name: string) {
    expect([answer.status, answer.body.error?.code], name).to.deep.equal([503, 'service_unavailable']);
    const receipt = decodeHeader(answer, 'payment-response');
    expect(receipt, name).to.include({ success: false, errorReason: 'refunded', amount: String(TOTAL) });
    return receipt;
  }

  /** A transfer that the payer itself sends, unknown to the relay. */
  async function transfer({ payer }: Bought, to: PublicKey): Promise<void> {
    await market.node.fundSol(payer.publicKey, 1e9);
    const from = findTokenAccount(payer.publicKey, market.usdcMint);
    const instruction = createTransferInstruction(from, to, payer.publicKey, TOTAL);
    await sendTransaction(market.node.connection, [instruction], keypairSigner(payer));
  }

  /** Anyone may refund a paid deposit that has expired. */
  async function refundAsStranger({ payer, deposit }: Bought): Promise<void> {
    const stranger = Keypair.generate();
    await market.node.fundSol(stranger.publicKey, 1e9);
    const destination = findTokenAccount(payer.publicKey, market.usdcMint);
    const rentSponsor = market.authority.publicKey;
    const accounts = { authority: stranger.publicKey, deposit, destination, rentSponsor, usdcMint: market.usdcMint };
    await sendTransaction(market.node.connection, [refundDeposit(accounts)], keypairSigner(stranger));
  }

  /** The relay that will be killed, and a function that starts or returns the one that continues. */
  async function startPair() {
    const [doomed, neighbour] = await Promise.all([
      start({ STANDSTILL: '1', ...(onPostgres && { WITHOUT_INDEXER: '1' }) }),
      onPostgres ? start() : null,
    ]);
    return { doomed, next: async () => neighbour ?? (await start()) };
  }

  it(`completes or refunds every call, or never charges for it, and leaves no deposit (${HOW})`, async () => {
    const { doomed, next } = await startPair();
    const before = await balances();
    const all = await begin(doomed, ['served', 'refunded', 'paidByPayer']);
    for (const one of all.of('paidByPayer')) {
      await transfer(one, findTokenAccount(one.deposit, market.usdcMint));
    }
    release(doomed, all.doomed);
    await killAll(doomed, all);
    const relay = await next();
    const [done, refunded, never] = [`200, ${TOTAL} paid`, `500, ${SERVICE_FEE} paid`, '402, 0 paid'];
    const found: Record<string, string> = {};
    const expected: Record<string, string> = {};
    await endAll(relay, all.doomed, async (answer, { way, point, payer, task }, name) => {
      const had = way === 'paidByPayer' ? 2n * TOTAL : TOTAL;
      found[name] = `${answer.status}, ${had - (await usdcOf(payer))} paid`;
      const isLate = way === 'served' && UNPAID.includes(point) && found[name] === never;
      expected[name] = isLate ? never : way === 'refunded' ? refunded : done;
      if (answer.status === 200) expect(answer.body.result, name).to.equal(`done: ${task}`);
    });
    expect(found).to.deep.equal(expected);
    const count = (end: string) => Object.values(found).filter((one) => one === end).length;
    const [sold, failed] = [BigInt(count(done)), BigInt(count(refunded))];
    const paid = all.doomed.length - count(never) - all.of('paidByPayer').length;
    expect(await balances()).to.deep.equal({
      creator: before.creator + sold * (PRICE - FEE),
      treasury: before.treasury + sold * (FEE + SERVICE_FEE) + failed * SERVICE_FEE,
      feePayer: before.feePayer - paid * PAYMENT_LAMPORTS,
    });
    await relay.kill();
  });

  it(`returns deposits that can no longer be served, in full and once, and takes nothing else (${HOW})`, async () => {
    const { doomed, next } = await startPair();
    const before = { ...(await balances()), elsewhere: await market.amountOf(market.callers[1]!.usdc) };
    const all = await begin(doomed, ['returned', 'unsigned', 'failed', 'expired']);
    const [returned, failed] = [all.of('returned').length, all.of('failed').length];
    for (const one of all.of('failed')) await transfer(one, market.callers[1]!.usdc);
    await setStatus('paused', doomed);
    release(doomed, all.of('failed'));
    const spent = (returned + failed) * PAYMENT_LAMPORTS;
    await until('the payments have failed', async () => before.feePayer - (await lamports(feePayer)) === spent);
    // From now on they can never land, and neither can the deposits that were not sent.
    await market.node.outlive();
    release(
      doomed,
      all.doomed.filter(({ way }) => way !== 'failed'),
    );
    await killAll(doomed, all);
    const relay = await next();
    const left: Partial<Record<Name, bigint>> = { returned: PRICE, failed: 0n };
    await endAll(relay, all.doomed, async (answer, { way, payer }, name) => {
      expect([answer.status, answer.body.error?.code], name).to.deep.equal([422, 'agent_paused']);
      const receipt = decodeHeader(answer, 'payment-response');
      if (way === 'returned') expect(receipt, name).to.include({ success: false, amount: String(TOTAL) });
      else expect(receipt, name).to.equal(null);
      expect(await usdcOf(payer), name).to.equal(left[way] ?? TOTAL);
    });
    expect({ ...(await balances()), elsewhere: await market.amountOf(market.callers[1]!.usdc) }).to.deep.equal({
      creator: before.creator,
      treasury: before.treasury + BigInt(returned) * SERVICE_FEE,
      feePayer: before.feePayer - spent,
      elsewhere: before.elsewhere + BigInt(failed) * TOTAL,
    });
    await setStatus('active', relay);
    await relay.kill();
  });

  // The rest depends on the chain, not on the database.
  if (onPostgres) return;

  it('opens deposits again whose opens have expired, calls the creator once, and charges once', async () => {
    const { doomed, next } = await startPair();
    const before = await balances();
    const all = await begin(doomed, ['reopened']);
    // The payment becomes final although its open stands still.
    let first = await rowsOf(all.doomed);
    await until('the payments are final', async () => {
      first = await rowsOf(all.doomed);
      return Object.values(first).every(({ state }) => state === 'open_signed');
    });
    await market.outliveOpens();
    release(doomed, all.doomed);
    await untilDoomed(doomed, all.doomed);
    const rows = await rowsOf(all.doomed);
    for (const [name, { state, open }] of Object.entries(rows)) {
      expect([first[name]!.state, state], name).to.deep.equal(['open_signed', 'open_signed']);
      expect(open !== first[name]!.open, name).to.equal(name.endsWith(':after'));
    }
    await killAll(doomed, all);
    // The open that was just signed expires too, while no relay works.
    await market.node.outlive();
    const relay = await next();
    await endAll(relay, all.doomed, async (answer, { task, payer }, name) => {
      expect([answer.status, answer.body.result], answer.text).to.deep.equal([200, `done: ${task}`]);
      expect(market.calls.get(answer.body.execution_id), name).to.equal(1);
      expect(await usdcOf(payer), name).to.equal(0n);
      const [last, ...earlier] = (await outcomesOf(task, 'open')).reverse();
      expect([last, new Set(earlier)], name).to.deep.equal(['landed', new Set(['expired'])]);
      expect(await outcomesOf(task, 'settle'), name).to.deep.equal(['landed']);
    });
    const sold = all.doomed.length;
    expect(await balances()).to.deep.equal({
      creator: before.creator + BigInt(sold) * (PRICE - FEE),
      treasury: before.treasury + BigInt(sold) * (FEE + SERVICE_FEE),
      feePayer: before.feePayer - sold * PAYMENT_LAMPORTS,
    });
    await relay.kill();
  });

  it('ends calls whose paid deposits were refunded by a stranger, and takes nothing', async () => {
    const { doomed, next } = await startPair();
    const before = await balances();
    const all = await begin(doomed, ['refundedByStranger']);
    await market.node.outlive();
    await market.node.timeTravel((await market.node.now()) + constants.depositSeconds);
    for (const one of all.doomed) await refundAsStranger(one);
    release(doomed, all.doomed);
    await untilDoomed(doomed, all.doomed);
    const rows = await rowsOf(all.doomed);
    const states = Object.fromEntries(Object.entries(rows).map(([name, { state }]) => [name, state]));
    expect(states).to.deep.equal({
      'refundedByStranger returned:before': 'paid',
      'refundedByStranger returned:after': 'returned',
    });
    await killAll(doomed, all);
    const relay = await next();
    await endAll(relay, all.doomed, async (answer, one, name) => {
      requireSentBack(answer, name);
      expect(await usdcOf(one.payer), name).to.equal(TOTAL);
      expect(market.calls.get((await market.executionsByTask()).get(one.task)!), name).to.equal(undefined);
    });
    expect(await balances()).to.deep.equal({
      ...before,
      feePayer: before.feePayer - all.doomed.length * PAYMENT_LAMPORTS,
    });
    const ended = Object.values(await rowsOf(all.doomed)).map(({ state }) => state);
    expect(ended).to.deep.equal(['returned', 'returned']);
    await relay.kill();
  });

  it('gives price and service fee back for deposits that expired while the relay was down', async () => {
    const doomed = await start({ STANDSTILL: '1' });
    const held = async () => ({ ...(await balances()), relay: await lamports(market.authority) });
    const before = await held();
    const all = await begin(doomed, ['lapsed']);
    await killAll(doomed, all);
    const ended = (await market.node.now()) + constants.depositSeconds;
    await market.node.outlive();
    // It is too late to open, but the deposits have not expired: a return now would cost the service fee.
    await market.node.timeTravel(ended - 30);
    const owners = async () => {
      const rows = await market.query('ledger', `SELECT lease_owner FROM executions WHERE task LIKE '%lapsed%'`);
      return rows.map(({ lease_owner: owner }) => owner);
    };
    const dead = await owners();
    const relay = await start();
    await until('the relay has them', async () => (await owners()).every((owner) => !dead.includes(owner)));
    await market.node.timeTravel(ended + 1);
    await endAll(relay, all.doomed, async (answer, { payer, task, send }, name) => {
      expect(requireSentBack(answer, name).extensions.execution.refund_transaction).to.be.a('string');
      expect(answer.body.error.message).to.match(/expired before .* The payment was sent back\.$/);
      expect((await send(relay.url)).text).to.equal(answer.text);
      expect(await usdcOf(payer), name).to.equal(TOTAL);
      expect(await outcomesOf(task, 'return'), name).to.deep.equal(['landed']);
    });
    // The operator has lost the fees of deposit and return, with two signatures, and of the payment.
    expect(await held()).to.deep.equal({
      ...before,
      relay: before.relay - all.doomed.length * (1 + 2) * SIGNATURE_LAMPORTS,
      feePayer: before.feePayer - all.doomed.length * PAYMENT_LAMPORTS,
    });
  });

  /** Saves the accounts of a call. Returns a function that restores them, as a wrong node shows them. */
  async function accountsOf({ task, deposit }: Bought): Promise<() => Promise<void>> {
    const record = findExecution(parseUuid((await market.executionsByTask()).get(task)!)!);
    const vault = findTokenAccount(deposit, market.usdcMint);
    const addresses = [deposit, vault, findTreasury(), record, findEscrow(record)];
    const accounts = await market.node.connection.getMultipleAccountsInfo(addresses, 'confirmed');
    return async () => {
      for (const [n, address] of addresses.entries()) {
        const { lamports, data, owner } = accounts[n] ?? { lamports: 0, data: '', owner: SystemProgram.programId };
        const account = { lamports, data: Buffer.from(data).toString('hex'), owner: owner.toBase58() };
        await market.node.rpc('surfnet_setAccount', [address.toBase58(), account]);
      }
    };
  }

  it('parks a call whose open has landed after it was given up, and refunds it after its deadline', async () => {
    const doomed = await start({ STANDSTILL: '1' });
    const task = stopAt('paid:after', 'landed after all');
    const one = await prepare(doomed, task);
    const call = pay(doomed, one);
    await until('it has paid', async () => doomed.standing.has(task));
    const id = (await market.executionsByTask()).get(task)!;
    const hide = await accountsOf(one);
    doomed.release(task, 'openConfirmed:before');
    await until('it is open', async () => doomed.standing.has(`${task} at openConfirmed:before`));
    const show = await accountsOf(one);
    await hide();
    await doomed.kill();
    await call;
    const returning = await start({ STANDSTILL: '1' });
    returning.release(task, 'returning:after');
    await setStatus('paused', returning);
    await market.outliveOpens();
    await until('its return is signed', async () => returning.standing.has(`${task} at returning:after`));
    await show();
    await returning.kill();
    const before = await balances();
    const { deadline } = (await market.record(id))!;
    const now = await market.node.now();
    await market.node.timeTravel(Math.max(now, Number(deadline)) + 10);
    let log = '';
    const relay = await start({}, (text) => {
      log += text;
    });
    const answer = await endOf(() => one.send(relay.url));
    expect([answer.status, answer.body.error?.code], answer.text).to.deep.equal([503, 'service_unavailable']);
    expect(log).to.include('parked an execution: its open has landed after it was given up');
    const [row] = await market.query('ledger', `SELECT state FROM executions WHERE task = '${task}'`);
    expect(row).to.deep.equal({ state: 'refunded' });
    expect(market.calls.get(id)).to.equal(undefined);
    // The treasury has had the service fee since the open.
    expect(await usdcOf(one.payer)).to.equal(PRICE);
    expect((await market.record(id))?.status).to.equal('refunded');
    expect(await isGone(one.deposit)).to.equal(true);
    expect(await balances()).to.deep.equal(before);
    await setStatus('active', relay);
    await relay.kill();
  });
});
