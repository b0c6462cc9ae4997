/**
 * Executions that are refunded, paid, disputed and returned, without server, command line or SDK. Every call is made
 * with Anchor and the IDL's JSON, on a real node. Relay and admin act only where the story needs a settle or an
 * outcome, with the same client. Each step checks the balances of every party.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ACCOUNT_SIZE,
  createInitializeAccount3Instruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, sendAndConfirmRawTransaction, Transaction } from '@solana/web3.js';
import { expect } from 'chai';
import {
  type Client,
  constant,
  executionId,
  find,
  hex,
  nonceOf,
  readable,
  refusal,
  sha256,
  signedResult,
} from './client.ts';
import { bn, DEPOSIT, listAgent, type Market, SIGNATURE, startMarket } from './market.ts';

const PRICE = 500_000n;
const FEE = 5_000n;
/** The service fee that a deposit holds besides the price. */
const SERVICE_FEE = 7_000n;
const BOND = 10_000_000n;
/** Slashed beyond the price. */
const FORFEITED = 50_000n;
const TIMEOUT_SECONDS = 30;
const GRACE_SECONDS = 600;
/** Lamports that each open reserves for the account that ends the execution. */
const GAS = 12_345n;
/** Seconds that an ended record is kept. */
const KEPT_SECONDS = 3_600;
const WINDOW_SECONDS = 259_200;
const LAPSE_SECONDS = 2_592_000;
/** An empty hash, all zero bytes. */
const NONE = '00'.repeat(32);

describe('an integrator without the service: executions and disputes by Anchor and the IDL', function () {
  // Each chapter depends on the one before it.
  this.bail(true);
  let market: Market;
  let moved: Market['moved'];
  let [creator, caller, stranger, relay, admin]: Client[] = [];
  let [listing, collateral]: PublicKey[] = [];
  const signingKey = Keypair.generate();
  const listingId = Buffer.alloc(16, 7);

  /** The nonce of each execution, with the half-hour in which it was opened. */
  const nonces = new Map<string, Buffer>();
  const idOf = (name: string) => executionId(caller!.wallet, nonces.get(name)!);
  const recordOf = (name: string) => find('EXECUTION_SEED', idOf(name));
  const disputeOf = (name: string) => find('DISPUTE_SEED', recordOf(name).toBytes());
  const read = async (name: string) =>
    readable(await caller!.fetch('executionRecord', recordOf(name))) as Record<string, unknown>;

  /** Opens an execution as the caller; its escrow becomes a party. */
  async function open(name: string, overrides: object = {}): Promise<string> {
    const now = await market.node.now();
    if (!nonces.has(name)) nonces.set(name, nonceOf(now, sha256(name)));
    market.parties[`escrow ${name}`] = find('ESCROW_SEED', recordOf(name).toBytes());
    const args = {
      nonce: [...nonces.get(name)!],
      executionId: [...idOf(name)],
      maxPrice: bn(PRICE),
      listingVersion: 1,
      timeoutSeconds: TIMEOUT_SECONDS,
      requestHash: [...sha256(`request ${name}`)],
      openBefore: bn(now + 60),
      gasLamports: Number(GAS),
      ...overrides,
    };
    const accounts = { listing: listing!, rentSponsor: caller!.wallet, source: market.parties.caller! };
    return caller!.send('openExecution', args, accounts);
  }

  /** Settles as the relay does, with the agent's signature over the result. */
  function settle(name: string): Promise<string> {
    const hash = sha256(`result ${name}`);
    const signature = signedResult(signingKey, hash);
    // A wallet opened it, so no gas balance gets anything back and no bump is needed.
    const gas = { gasLamports: Number(GAS), spenderBump: 0 };
    const args = { resultHash: [...hash], signature, executionTimeMs: 12, ...gas };
    return relay!.send('settleExecution', args, { record: recordOf(name), payout: market.parties.creator! });
  }

  /** Runs an example as the stranger, with this argument. */
  function byStranger(file: string, argument: string) {
    const folder = mkdtempSync(join(tmpdir(), 'integrator-'));
    const keypair = join(folder, 'stranger.json');
    writeFileSync(keypair, JSON.stringify([...market.keypairs.stranger.secretKey]), { mode: 0o600 });
    const ran = spawnSync(process.execPath, ['--import', 'tsx', file, argument, keypair], {
      env: { ...process.env, RPC_URL: market.node.rpcUrl, WS_URL: market.node.wsUrl },
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    return ran;
  }

  /** Prepares a deposit as the relay does, for a quote that names its payer; its vault becomes a party. */
  async function prepare(name: string): Promise<PublicKey> {
    const [termsHash, payer] = [sha256(`terms ${name}`), caller!.wallet];
    const amounts = [PRICE, SERVICE_FEE].map((amount) => Buffer.from(BigUint64Array.of(amount).buffer));
    const hash = sha256(Buffer.concat([constant('DEPOSIT_DOMAIN'), termsHash, payer.toBytes(), ...amounts]));
    const deposit = find('DEPOSIT_SEED', hash);
    market.parties[`deposit ${name}`] = getAssociatedTokenAddressSync(market.usdcMint, deposit, true);
    const args = { termsHash: [...termsHash], quotedPayer: payer, price: bn(PRICE), serviceFee: bn(SERVICE_FEE) };
    const accounts = { deposit, rentSponsor: relay!.wallet };
    await relay!.send('prepareDeposit', { ...args, caller: payer }, accounts);
    return deposit;
  }

  /** The caller pays the deposit by a plain transfer. */
  async function pay(name: string): Promise<void> {
    const [from, to] = [market.parties.caller!, market.parties[`deposit ${name}`]!];
    const transfer = createTransferCheckedInstruction(
      from,
      market.usdcMint,
      to,
      caller!.wallet,
      PRICE + SERVICE_FEE,
      6,
    );
    const { connection, keypairs } = market;
    // Otherwise web3.js uses a blockhash up to 30 seconds old, which has expired on this node's short slots.
    const latest = await connection.getLatestBlockhash('confirmed');
    const transaction = new Transaction({ feePayer: caller!.wallet, ...latest }).add(transfer);
    transaction.sign(keypairs.caller!);
    const options = { commitment: 'confirmed', preflightCommitment: 'confirmed' } as const;
    await sendAndConfirmRawTransaction(connection, transaction.serialize(), options);
  }

  function dispute(name: string, by = caller!): Promise<string> {
    const maxBond = bn(10_000_000);
    const args = { evidenceHash: [...sha256('evidence')], maxBond, evidenceUri: 'https://example.com/evidence' };
    return by.send('openDispute', args, { record: recordOf(name) });
  }

  function resolve(name: string, upheld: boolean, amount: bigint): Promise<string> {
    const args = { upheld, amount: bn(amount), reasonHash: [...sha256('reason')] };
    return admin!.send('resolveDispute', args, { dispute: disputeOf(name), listing: listing! });
  }

  before(async () => {
    market = await startMarket();
    moved = market.moved;
    ({ creator, caller, stranger, relay, admin } = market.clients);
    listing = find('LISTING_SEED', creator.wallet.toBytes(), listingId);
    collateral = find('COLLATERAL_SEED', listing.toBytes());
    market.parties.vault = find('COLLATERAL_VAULT_SEED', listing.toBytes());
    await listAgent(market, listingId, signingKey, PRICE);
  });
  after(() => market.stop());

  it('open_execution moves the price into its own escrow', async () => {
    const [nothing] = await moved(async () => {
      expect(await refusal(open('one', { maxPrice: bn(PRICE - 1n) }))).to.equal('PriceAboveMax');
      expect(await refusal(open('one', { listingVersion: 2 }))).to.equal('ListingVersionMismatch');
      const [now, tail] = [await market.node.now(), sha256('another')];
      expect(await refusal(open('one', { nonce: [...nonceOf(now, tail)] }))).to.equal('WrongExecutionId');
      expect(await refusal(open('one', { nonce: [...nonceOf(0, tail)] }))).to.equal('WrongNonceHalfHour');
    });
    expect(nothing).to.deep.equal({});
    const [moves, signature] = await moved(() => open('one'));
    expect(moves).to.deep.equal({ caller: -PRICE, 'escrow one': PRICE });
    const record = await read('one');
    expect(record).to.deep.include({
      status: { open: {} },
      executionId: hex(idOf('one')),
      listing: listing!.toBase58(),
      caller: caller!.wallet.toBase58(),
      signingKey: signingKey.publicKey.toBase58(),
      rentSponsor: caller!.wallet.toBase58(),
      price: PRICE,
      gasLamports: Number(GAS),
      requestHash: hex(sha256('request one')),
      resultHash: NONE,
      refundAt: (record.openedAt as bigint) + BigInt(TIMEOUT_SECONDS + GRACE_SECONDS),
    });
    const { name, data } = await caller!.eventOf(signature);
    expect(name).to.equal('executionOpened');
    expect(data).to.deep.include({ record: recordOf('one').toBase58(), price: PRICE, refundAt: record.refundAt });
  });

  it('refund_execution by examples/refund.ts works for a stranger from refund_at on, and for nobody before', async () => {
    const uuid = hex(idOf('one')).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    const example = async () => byStranger('examples/refund.ts', uuid);

    const [nothing, early] = await moved(example);
    expect(nothing).to.deep.equal({});
    expect([early.status, early.stdout]).to.deep.equal([1, '']);
    expect(early.stderr).to.include('Before refund_at only a relay authority may refund');

    await market.node.timeTravel(Number((await read('one')).refundAt));
    const rent = await market.lamportsOf(market.parties['escrow one']!);
    const [callersFunds, strangersFunds] = await Promise.all(
      [caller!, stranger!].map((it) => market.lamportsOf(it.wallet)),
    );
    const [moves, late] = await moved(example);
    expect(late.status, late.stderr).to.equal(0);
    expect(moves).to.deep.equal({ caller: PRICE, 'escrow one': -PRICE });
    // No relay ended it, so the gas goes back to the rent sponsor too.
    expect(await market.lamportsOf(caller!.wallet)).to.equal(callersFunds! + rent + GAS);
    expect(await market.lamportsOf(stranger!.wallet)).to.equal(strangersFunds! - SIGNATURE);
    const { name, data } = await stranger!.eventOf(late.stdout.trim());
    expect(name).to.equal('executionRefunded');
    expect(data).to.deep.include({ record: recordOf('one').toBase58(), amount: PRICE, reason: 5 });
    expect((await read('one')).status).to.deep.equal({ refunded: {} });
  });

  it('refund_deposit by examples/refundDeposit.ts works for a stranger once it has expired, and for nobody before', async () => {
    const deposit = await prepare('a');
    const [paid] = await moved(() => pay('a'));
    expect(paid).to.deep.equal({ caller: -(PRICE + SERVICE_FEE), 'deposit a': PRICE + SERVICE_FEE });
    const example = async () => byStranger('examples/refundDeposit.ts', deposit.toBase58());
    const [nothing, early] = await moved(example);
    expect(nothing).to.deep.equal({});
    expect([early.status, early.stdout]).to.deep.equal([1, '']);
    expect(early.stderr).to.include('Only a relay authority may refund a deposit before it expires');

    const { expiresAt } = await stranger!.fetch('deposit', deposit);
    await market.node.timeTravel(expiresAt.toNumber());
    const vault = market.parties['deposit a']!;
    const lent = (await market.lamportsOf(deposit)) + (await market.lamportsOf(vault));
    const [relaysFunds, strangersFunds] = await Promise.all(
      [relay!, stranger!].map((it) => market.lamportsOf(it.wallet)),
    );
    const [moves, late] = await moved(example);
    expect(late.status, late.stderr).to.equal(0);
    expect(moves).to.deep.equal({ caller: PRICE + SERVICE_FEE, 'deposit a': -(PRICE + SERVICE_FEE) });
    expect(await market.lamportsOf(relay!.wallet)).to.equal(relaysFunds! + lent);
    expect(await market.lamportsOf(stranger!.wallet)).to.equal(strangersFunds! - SIGNATURE);
    expect((await stranger!.eventOf(late.stdout.trim())).data).to.deep.include({ amount: PRICE + SERVICE_FEE });
    expect(await market.lamportsOf(deposit)).to.equal(0n);
  });

  it('refund_deposit lets its signing payer choose any destination account, and nobody else', async () => {
    const deposit = await prepare('b');
    await pay('b');
    const { expiresAt } = await caller!.fetch('deposit', deposit);
    await market.node.timeTravel(expiresAt.toNumber());
    const stolen = { instead: { destination: market.parties.stranger! } };
    expect(await refusal(stranger!.send('refundDeposit', null, { deposit }, stolen))).to.equal(
      'WrongRefundDestination',
    );
    const other = { instead: { destination: market.parties.caller! } };
    const [moves] = await moved(() => caller!.send('refundDeposit', null, { deposit }, other));
    expect(moves).to.deep.equal({ caller: PRICE + SERVICE_FEE, 'deposit b': -(PRICE + SERVICE_FEE) });
  });

  it('refund_execution lets a signing caller choose any destination account, and nobody else', async () => {
    await open('two');
    await market.node.timeTravel(Number((await read('two')).refundAt));
    const { wallet } = caller!;
    const savings = await PublicKey.createWithSeed(wallet, 'savings', TOKEN_PROGRAM_ID);
    market.parties.savings = savings;
    const create = SystemProgram.createAccountWithSeed({
      fromPubkey: wallet,
      newAccountPubkey: savings,
      basePubkey: wallet,
      seed: 'savings',
      lamports: await market.connection.getMinimumBalanceForRentExemption(ACCOUNT_SIZE),
      space: ACCOUNT_SIZE,
      programId: TOKEN_PROGRAM_ID,
    });
    const initialize = createInitializeAccount3Instruction(savings, market.usdcMint, wallet);
    const args = { reason: { expired: {} }, gasLamports: 0 };
    const record = recordOf('two');
    const stolen = { instead: { destination: market.parties.stranger! } };
    const [nothing] = await moved(async () => {
      expect(await refusal(stranger!.send('refundExecution', args, { record }, stolen))).to.equal(
        'WrongRefundDestination',
      );
    });
    expect(nothing).to.deep.equal({});
    const made = { before: [create, initialize], instead: { destination: savings } };
    const [moves] = await moved(() => caller!.send('refundExecution', args, { record }, made));
    expect(moves).to.deep.equal({ savings: PRICE, 'escrow two': -PRICE });
    expect(await refusal(caller!.send('refundExecution', args, { record }))).to.equal('ExecutionNotOpen');
  });

  it("close_execution lets anyone return a record's rent an hour after its open", async () => {
    const record = recordOf('one');
    const close = () => stranger!.send('closeExecution', null, { record });
    expect(await refusal(close())).to.equal('CloseTooEarly');
    await market.node.timeTravel(Number((await read('one')).openedAt) + KEPT_SECONDS);
    const [rent, funds] = [await market.lamportsOf(record), await market.lamportsOf(caller!.wallet)];
    const [moves, signature] = await moved(close);
    expect(moves).to.deep.equal({});
    expect((await stranger!.eventOf(signature)).name).to.equal('executionClosed');
    expect(await market.lamportsOf(caller!.wallet)).to.equal(funds + rent);
    expect(await market.lamportsOf(record)).to.equal(0n);
  });

  it('settle_execution by the relay pays 99% to the creator and 1% to the treasury', async () => {
    for (const name of ['three', 'four', 'five']) {
      await open(name);
      const funds = await market.lamportsOf(relay!.wallet);
      const [moves, signature] = await moved(() => settle(name));
      expect(await market.lamportsOf(relay!.wallet)).to.equal(funds + GAS - SIGNATURE);
      expect(moves).to.deep.equal({ creator: PRICE - FEE, treasury: FEE, [`escrow ${name}`]: -PRICE });
      expect((await caller!.eventOf(signature)).name).to.equal('executionSettled');
      expect(await read(name)).to.deep.include({
        status: { completed: {} },
        resultHash: hex(sha256(`result ${name}`)),
      });
    }
  });

  it('open_dispute works for the caller alone, who pays bond and rent', async () => {
    expect(await refusal(dispute('three', stranger!))).to.equal('NotCaller');
    const funds = await market.lamportsOf(caller!.wallet);
    const [moves, signature] = await moved(() => dispute('three'));
    expect(moves).to.deep.equal({});
    const held = await market.lamportsOf(disputeOf('three'));
    expect(await market.lamportsOf(caller!.wallet)).to.equal(funds - held - SIGNATURE);
    const { name, data } = await caller!.eventOf(signature);
    expect(name).to.equal('disputeOpened');
    expect(data).to.deep.include({ evidenceUri: 'https://example.com/evidence', bond: BOND });
    expect(readable(await caller!.fetch('dispute', disputeOf('three')))).to.deep.include({
      outcome: { open: {} },
      record: recordOf('three').toBase58(),
      caller: caller!.wallet.toBase58(),
      evidenceHash: hex(sha256('evidence')),
      bond: BOND,
      price: PRICE,
    });
    expect(await refusal(dispute('three'))).to.equal('DisputeExists');
    await dispute('four');
    await dispute('five');
    expect(readable(await caller!.fetch('creatorCollateral', collateral!))).to.deep.include({ openDisputes: 3 });
  });

  it('claim_dispute_award lets a stranger send an award that the caller could not receive earlier', async () => {
    const usdc = market.parties.caller!;
    await market.node.setFrozen(usdc, true);
    const [waits] = await moved(() => resolve('three', true, PRICE + FORFEITED));
    expect(waits).to.deep.equal({});
    const accounts = { dispute: disputeOf('three') };
    const claim = () => stranger!.send('claimDisputeAward', null, accounts);
    expect(await refusal(claim())).to.equal('DestinationUnusable');
    await market.node.setFrozen(usdc, false);
    const [moves, signature] = await moved(claim);
    expect(moves).to.deep.equal({ caller: PRICE, vault: -PRICE });
    expect((await stranger!.eventOf(signature)).data).to.deep.include({ amount: PRICE, vaultClosed: false });
    expect(await refusal(claim())).to.equal('NothingOwed');
    // The slash left less than the price requires.
    expect((await creator!.fetch('agentListing', listing!)).status).to.deep.equal({ paused: {} });
    // A dispute changes no record.
    expect((await read('three')).status).to.deep.equal({ completed: {} });
    expect((await caller!.fetch('dispute', disputeOf('three'))).outcome).to.deep.equal({ upheld: {} });
  });

  it('pays the bond of a rejected dispute to the creator', async () => {
    const funds = await market.lamportsOf(creator!.wallet);
    const [moves, signature] = await moved(() => resolve('four', false, 0n));
    expect(moves).to.deep.equal({});
    expect(await market.lamportsOf(creator!.wallet)).to.equal(funds + BOND);
    expect((await caller!.eventOf(signature)).name).to.equal('disputeResolved');
  });

  it('close_dispute is refused while the dispute is open and soon after its outcome', async () => {
    const close = (name: string) => stranger!.send('closeDispute', null, { dispute: disputeOf(name) });
    expect(await refusal(close('five'))).to.equal('DisputeNotEnded');
    expect(await refusal(close('four'))).to.equal('CloseTooEarly');
  });

  it('delist_agent, lapse_dispute, sweep_forfeits and return_collateral return the collateral that was not slashed', async () => {
    const back = () => stranger!.send('returnCollateral', null, { listing: listing! });
    expect(await refusal(back())).to.equal('CollateralNotReturnable');
    const [nothing, delisted] = await moved(() => creator!.send('delistAgent', null, { listing: listing! }));
    expect(nothing).to.deep.equal({});
    const { name, data } = await creator!.eventOf(delisted);
    expect(name).to.equal('agentDelisted');
    const { returnableAt } = await creator!.fetch('creatorCollateral', collateral!);
    expect(data).to.deep.equal({ listing: listing!.toBase58(), returnableAt: BigInt(returnableAt.toString()) });

    await market.node.timeTravel(returnableAt.toNumber());
    expect(await refusal(back())).to.equal('DisputesOpen');
    const lapse = () => stranger!.send('lapseDispute', null, { dispute: disputeOf('five') });
    expect(await refusal(lapse())).to.equal('LapseTooEarly');
    const { openedAt } = await caller!.fetch('dispute', disputeOf('five'));
    expect(returnableAt.toNumber()).to.be.greaterThan(openedAt.toNumber() + WINDOW_SECONDS);
    // Dispute four was resolved after dispute five was opened.
    const { resolvedAt } = await caller!.fetch('dispute', disputeOf('four'));
    await market.node.timeTravel(resolvedAt.toNumber() + LAPSE_SECONDS);
    const funds = await market.lamportsOf(caller!.wallet);
    const [still, lapsed] = await moved(lapse);
    expect(still).to.deep.equal({});
    expect((await stranger!.eventOf(lapsed)).name).to.equal('disputeLapsed');
    expect(await market.lamportsOf(caller!.wallet)).to.equal(funds + BOND);

    const rent = await market.lamportsOf(market.parties.vault!);
    const creatorsFunds = await market.lamportsOf(creator!.wallet);
    const [forfeits, swept] = await moved(() => stranger!.send('sweepForfeits', null, { collateral: collateral! }));
    expect(forfeits).to.deep.equal({ treasury: FORFEITED, vault: -FORFEITED });
    expect((await stranger!.eventOf(swept)).data).to.deep.include({ amount: FORFEITED, vaultClosed: false });
    const [moves, returned] = await moved(back);
    const amount = DEPOSIT - PRICE - FORFEITED;
    expect(moves).to.deep.equal({ creator: amount, vault: -amount });
    expect((await stranger!.eventOf(returned)).data).to.deep.include({ amount, vaultClosed: true });
    expect(await market.lamportsOf(creator!.wallet)).to.equal(creatorsFunds + rent);
    expect(await refusal(back())).to.equal('CollateralNotReturnable');
  });

  it('close_dispute lets anyone return its rent 30 days after the outcome', async () => {
    const dispute = disputeOf('four');
    const [held, funds] = [await market.lamportsOf(dispute), await market.lamportsOf(caller!.wallet)];
    const [moves, signature] = await moved(() => stranger!.send('closeDispute', null, { dispute }));
    expect(moves).to.deep.equal({});
    expect((await stranger!.eventOf(signature)).name).to.equal('disputeClosed');
    expect(await market.lamportsOf(caller!.wallet)).to.equal(funds + held);
    expect(await market.lamportsOf(dispute)).to.equal(0n);
  });
});
