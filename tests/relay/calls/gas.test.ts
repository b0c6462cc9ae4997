/**
 * Payment of fees and rent, on the real node. Checks each party's lamports and USDC to the base unit, for sponsored
 * calls, calls from a gas balance with lent rent, and calls that pay for everything.
 */
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { RECORD_BYTES } from '../../../app/relay/chain/rent.ts';
import type { RunningRelay } from '../../../app/relay/start.ts';
import { findExecution, findSpender } from '../../../app/sdk/program/program.ts';
import { parseUuid, requestHash } from '../../../app/sdk/receipt/receipt.ts';
import { openByWallet } from '../../../app/sdk/wallet/executions.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import {
  type Answer,
  FEE,
  failedAnswer,
  PRICE,
  request,
  startMarketplace,
  type TestMarketplace,
} from '../../harness/node/marketplace.ts';
import { movedSince, type Purses, readPurses, readRents } from '../../harness/node/purses.ts';
import { FORGETFUL, startRelayHere } from '../../harness/node/relayHere.ts';

/** Gas of two signatures, in lamports. */
const GAS = 10_000n;
const SOL = 1_000_000_000;
const PAID = { callerUsdc: -PRICE, creatorUsdc: PRICE - FEE, treasuryUsdc: FEE };

describe('fees and refundable deposits', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  let rents: { empty: bigint; record: bigint; escrow: bigint };
  const cold = Keypair.generate().publicKey;
  const relays: RunningRelay[] = [];
  before(async () => {
    market = await startMarketplace();
    rents = await readRents(market);
  });
  after(async () => {
    for (const relay of relays) await relay.stop();
    await market.stop();
  });
  beforeEach(async () => {
    market.setBehaviour(null);
    for (const relay of relays.splice(0)) await relay.stop();
    await market.forgetExecutions();
    for (const { wallet } of market.callers) await market.node.fundSol(findSpender(wallet.publicKey), 0);
  });

  async function startRelay(settings: NodeJS.ProcessEnv = {}): Promise<RunningRelay> {
    const own = { SPONSOR: 'budgets', TRIAL_CALLS_PER_WALLET: '0', RENT_RETURN_ADDRESS: cold.toBase58(), ...FORGETFUL };
    const relay = await startRelayHere(market, { ...own, ...settings });
    relays.push(relay);
    return relay;
  }
  const execute = (relay: RunningRelay, caller = 0, body: object = { task: 'x' }): Promise<Answer> =>
    request(relay.url, `/v1/agents/${market.agentId}/execute`, { apiKey: market.callers[caller]!.apiKey, body });
  const fillTank = (lamports: bigint | number, caller = 0) =>
    market.node.fundSol(findSpender(market.callers[caller]!.wallet.publicKey), Number(lamports));
  const purses = (caller = 0) => readPurses(market, caller, cold);
  const fail = () => market.setBehaviour((body, _response, reply) => reply(failedAnswer(body.execution_id)));

  /** Runs an action and returns the changed balances with its answer. */
  async function moves(act: () => Promise<Answer>, caller = 0): Promise<{ moved: Partial<Purses>; answer: Answer }> {
    const before = await purses(caller);
    const answer = await act();
    return { answer, moved: movedSince(before, await purses(caller)) };
  }

  function refusedForGas(answer: Answer, have: bigint, need: bigint, caller = 0): void {
    expect([answer.status, answer.body.error.code], answer.text).to.deep.equal([402, 'insufficient_balance']);
    const wallet = market.callers[caller]!.wallet.publicKey;
    expect(answer.body.error.details).to.deep.equal({
      limit: 'gas',
      wallet: wallet.toBase58(),
      tank: findSpender(wallet).toBase58(),
      have_lamports: Number(have),
      need_lamports: Number(need),
    });
  }

  it('counts the refundable deposit from the actual size of a record', async () => {
    const relay = await startRelay({ SPONSOR: 'all' });
    const { status, body, text } = await execute(relay);
    expect(status, text).to.equal(200);
    const record = await market.node.connection.getAccountInfo(findExecution(parseUuid(body.execution_id)!));
    expect(record!.data.length).to.equal(RECORD_BYTES);
  });

  it('sponsors a trial call: the relay pays both fees, lends the rent and gets the rent back', async () => {
    const relay = await startRelay({ TRIAL_CALLS_PER_WALLET: '1' });
    const { moved, answer } = await moves(() => execute(relay));
    expect(answer.status).to.equal(200);
    expect(moved).to.deep.equal({ ...PAID, authority: -GAS - rents.record - rents.escrow, cold: rents.escrow });
    const record = await market.record(answer.body.execution_id);
    expect([record!.gasLamports, record!.rentSponsor.toBase58()]).to.deep.equal([0, cold.toBase58()]);
    // The second call is not sponsored, whichever relay of the ledger gets it.
    const other = await startRelay({ TRIAL_CALLS_PER_WALLET: '1' });
    for (const asked of [relay, other]) {
      const second = await moves(() => execute(asked));
      refusedForGas(second.answer, 0n, GAS + rents.empty);
      expect(second.moved).to.deep.equal({});
    }
    expect((await execute(other, 1)).status).to.equal(200);
  });

  it('charges gas to the gas balance after the trial calls; the relay gets it back and lends the rent', async () => {
    const relay = await startRelay();
    await fillTank(SOL);
    const { moved, answer } = await moves(() => execute(relay));
    expect(answer.status).to.equal(200);
    expect(moved).to.deep.equal({ ...PAID, authority: -rents.record - rents.escrow, cold: rents.escrow, tank: -GAS });
    const record = await market.record(answer.body.execution_id);
    expect([record!.gasLamports, record!.rentSponsor.toBase58()]).to.deep.equal([Number(GAS), cold.toBase58()]);
  });

  it('charges gas to the gas balance for a call that fails and is refunded', async () => {
    const relay = await startRelay();
    await fillTank(SOL);
    fail();
    const { moved, answer } = await moves(() => execute(relay));
    expect(answer.status).to.equal(500);
    expect(moved).to.deep.equal({ authority: -rents.record - rents.escrow, cold: rents.escrow, tank: -GAS });
  });

  for (const exhausted of ['WALLET', 'LISTING', 'TOTAL'] as const) {
    it(`come from the gas balance once the sponsor limit ${exhausted} is used up, and the operator's balance does not change`, async () => {
      const name = exhausted === 'TOTAL' ? 'SPONSOR_LAMPORTS_TOTAL' : `SPONSOR_LAMPORTS_PER_${exhausted}`;
      // Enough for one call's rent, but not for it on top of the record of another call.
      const relay = await startRelay({ [name]: String(rents.record + rents.escrow) });
      await fillTank(SOL);
      const first = await moves(() => execute(relay));
      expect(first.moved).to.include({ tank: -GAS });
      const { moved, answer } = await moves(() => execute(relay));
      expect(answer.status).to.equal(200);
      expect(moved).to.deep.equal({ ...PAID, tank: -GAS - rents.record });
      const tank = findSpender(market.callers[0]!.wallet.publicKey).toBase58();
      expect((await market.record(answer.body.execution_id))!.rentSponsor.toBase58()).to.equal(tank);
    });
  }

  it('rejects: a gas balance that would fall below the rent-exempt minimum, or cannot pay the rent', async () => {
    const lending = await startRelay();
    const enough = GAS + rents.empty;
    await fillTank(enough - 1n);
    const short = await moves(() => execute(lending));
    refusedForGas(short.answer, enough - 1n, enough);
    expect(short.moved).to.deep.equal({});
    await fillTank(enough);
    expect((await execute(lending)).status).to.equal(200);

    const whole = GAS + rents.record + rents.escrow;
    const alone = await startRelay({ SPONSOR_LAMPORTS_TOTAL: '0' });
    await fillTank(whole + 1n);
    const unsound = await moves(() => execute(alone));
    refusedForGas(unsound.answer, whole + 1n, whole + rents.empty);
    expect(unsound.moved).to.deep.equal({});
    // The whole gas balance is enough: the escrow's rent comes back into it.
    await fillTank(whole);
    const last = await moves(() => execute(alone));
    expect(last.answer.status, last.answer.text).to.equal(200);
    expect(last.moved).to.deep.equal({ ...PAID, tank: -GAS - rents.record });
  });

  it('serves as many concurrent calls as the gas balance covers, and burns no fee for the others', async () => {
    const relay = await startRelay();
    await fillTank(3n * GAS + rents.empty);
    const before = await purses();
    const answers = await Promise.all(Array.from({ length: 8 }, () => execute(relay)));
    const served = BigInt(answers.filter(({ status }) => status === 200).length);
    expect([served, answers.filter(({ status }) => status === 402).length]).to.deep.equal([3n, 5]);
    expect(movedSince(before, await purses())).to.include({
      authority: -served * (rents.record + rents.escrow),
      tank: -served * GAS,
      callerUsdc: -served * PRICE,
    });
  });

  it('charges the gas balance all that it can pay even when every deposit is sponsored', async () => {
    const relay = await startRelay({ SPONSOR: 'all' });
    expect((await moves(() => execute(relay))).moved).to.include({ authority: -GAS - rents.record - rents.escrow });
    await fillTank(SOL);
    expect((await moves(() => execute(relay))).moved).to.include({
      authority: -rents.record - rents.escrow,
      tank: -GAS,
    });
  });

  describe('an execution that its wallet opened itself', () => {
    const open = (gasLamports: number) =>
      openByWallet(market.marketplace, {
        wallet: keypairSigner(market.callers[0]!.wallet),
        agentId: new PublicKey(market.agentId),
        requestHash: requestHash('x'),
        gasLamports,
      });
    const start = (relay: RunningRelay, id: string) =>
      request(relay.url, `/v1/executions/${id}/start`, {
        apiKey: market.callers[0]!.apiKey,
        body: { task: 'x' },
      });

    it('pays for its own settle', async () => {
      const relay = await startRelay();
      const { execution_id } = await open(5_000);
      const { moved, answer } = await moves(() => start(relay, execution_id));
      expect(answer.status, answer.text).to.equal(200);
      // The price is in escrow already, and its rent goes back to the wallet that lent it.
      expect(moved).to.deep.equal({ creatorUsdc: PRICE - FEE, treasuryUsdc: FEE, wallet: rents.escrow });
    });

    it('rejects: a record that holds too little gas, unless the call is sponsored', async () => {
      const relay = await startRelay();
      const { execution_id } = await open(4_999);
      const { moved, answer } = await moves(() => start(relay, execution_id));
      expect([answer.status, answer.body.error.code]).to.deep.equal([409, 'not_startable']);
      const details = { reason: 'gas', have_lamports: 4_999, need_lamports: 5_000 };
      expect(answer.body.error.details).to.deep.equal(details);
      expect(moved).to.deep.equal({});
      const sponsor = await startRelay({ TRIAL_CALLS_PER_WALLET: '1' });
      const sponsored = await moves(() => start(sponsor, execution_id));
      expect(sponsored.answer.status, sponsored.answer.text).to.equal(200);
      expect(sponsored.moved).to.include({ authority: -1n });
    });
  });
});
