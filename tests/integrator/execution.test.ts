/**
 * Executions that are refunded, paid, disputed and returned, without server, command line or SDK. Every call is made
 * with Anchor and the IDL's JSON, on a real node. Relay and admin act only where the story needs a settle or an
 * outcome, with the same client. Who may act when, and every lamport, is tested in tests/program.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTransferCheckedInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Keypair, type PublicKey, sendAndConfirmRawTransaction, Transaction } from '@solana/web3.js';
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
import { bn, DEPOSIT, listAgent, type Market, startMarket } from './market.ts';

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

  function dispute(name: string): Promise<string> {
    const maxBond = bn(10_000_000);
    const args = { evidenceHash: [...sha256('evidence')], maxBond, evidenceUri: 'https://example.com/evidence' };
    return caller!.send('openDispute', args, { record: recordOf(name) });
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
    expect(await refusal(open('one', { maxPrice: bn(PRICE - 1n) }))).to.equal('PriceAboveMax');
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

    const early = await example();
    expect([early.status, early.stdout]).to.deep.equal([1, '']);
    expect(early.stderr).to.include('Before refund_at only a relay authority may refund');

    await market.node.timeTravel(Number((await read('one')).refundAt));
    const [moves, late] = await moved(example);
    expect(late.status, late.stderr).to.equal(0);
    expect(moves).to.deep.equal({ caller: PRICE, 'escrow one': -PRICE });
    const { name, data } = await stranger!.eventOf(late.stdout.trim());
    expect(name).to.equal('executionRefunded');
    expect(data).to.deep.include({ record: recordOf('one').toBase58(), amount: PRICE, reason: 5 });
    expect((await read('one')).status).to.deep.equal({ refunded: {} });
  });

  it('refund_deposit by examples/refundDeposit.ts works for a stranger once it has expired, and for nobody before', async () => {
    const deposit = await prepare('a');
    await pay('a');
    const example = async () => byStranger('examples/refundDeposit.ts', deposit.toBase58());
    const early = await example();
    expect([early.status, early.stdout]).to.deep.equal([1, '']);
    expect(early.stderr).to.include('Only a relay authority may refund a deposit before it expires');

    const { expiresAt } = await stranger!.fetch('deposit', deposit);
    await market.node.timeTravel(expiresAt.toNumber());
    const [moves, late] = await moved(example);
    expect(late.status, late.stderr).to.equal(0);
    expect(moves).to.deep.equal({ caller: PRICE + SERVICE_FEE, 'deposit a': -(PRICE + SERVICE_FEE) });
    expect((await stranger!.eventOf(late.stdout.trim())).data).to.deep.include({ amount: PRICE + SERVICE_FEE });
  });

  it("close_execution lets anyone return a record's rent an hour after its open", async () => {
    const record = recordOf('one');
    await market.node.timeTravel(Number((await read('one')).openedAt) + KEPT_SECONDS);
    const signature = await stranger!.send('closeExecution', null, { record });
    expect((await stranger!.eventOf(signature)).name).to.equal('executionClosed');
    expect(await market.lamportsOf(record)).to.equal(0n);
  });

  it('settle_execution by the relay pays 99% to the creator and 1% to the treasury', async () => {
    for (const name of ['three', 'four', 'five']) {
      await open(name);
      const [moves, signature] = await moved(() => settle(name));
      expect(moves).to.deep.equal({ creator: PRICE - FEE, treasury: FEE, [`escrow ${name}`]: -PRICE });
      expect((await caller!.eventOf(signature)).name).to.equal('executionSettled');
      expect(await read(name)).to.deep.include({
        status: { completed: {} },
        resultHash: hex(sha256(`result ${name}`)),
      });
    }
  });

  it('open_dispute works for the caller', async () => {
    const signature = await dispute('three');
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
    await dispute('four');
    await dispute('five');
    expect(readable(await caller!.fetch('creatorCollateral', collateral!))).to.deep.include({ openDisputes: 3 });
  });

  it('claim_dispute_award lets a stranger send an award that the caller could not receive earlier', async () => {
    const usdc = market.parties.caller!;
    await market.node.setFrozen(usdc, true);
    const [waits] = await moved(() => resolve('three', true, PRICE + FORFEITED));
    expect(waits).to.deep.equal({});
    const claim = () => stranger!.send('claimDisputeAward', null, { dispute: disputeOf('three') });
    await market.node.setFrozen(usdc, false);
    const [moves, signature] = await moved(claim);
    expect(moves).to.deep.equal({ caller: PRICE, vault: -PRICE });
    expect((await stranger!.eventOf(signature)).data).to.deep.include({ amount: PRICE, vaultClosed: false });
    expect((await caller!.fetch('dispute', disputeOf('three'))).outcome).to.deep.equal({ upheld: {} });
  });

  it('pays the bond of a rejected dispute to the creator', async () => {
    const funds = await market.lamportsOf(creator!.wallet);
    const signature = await resolve('four', false, 0n);
    expect(await market.lamportsOf(creator!.wallet)).to.equal(funds + BOND);
    expect((await caller!.eventOf(signature)).name).to.equal('disputeResolved');
  });

  it('delist_agent, lapse_dispute, sweep_forfeits and return_collateral return the collateral that was not slashed', async () => {
    const delisted = await creator!.send('delistAgent', null, { listing: listing! });
    const { name, data } = await creator!.eventOf(delisted);
    expect(name).to.equal('agentDelisted');
    const { returnableAt } = await creator!.fetch('creatorCollateral', collateral!);
    expect(data).to.deep.equal({ listing: listing!.toBase58(), returnableAt: BigInt(returnableAt.toString()) });

    // Dispute four was resolved after dispute five was opened.
    const { resolvedAt } = await caller!.fetch('dispute', disputeOf('four'));
    await market.node.timeTravel(resolvedAt.toNumber() + LAPSE_SECONDS);
    const lapsed = await stranger!.send('lapseDispute', null, { dispute: disputeOf('five') });
    expect((await stranger!.eventOf(lapsed)).name).to.equal('disputeLapsed');

    const [forfeits, swept] = await moved(() => stranger!.send('sweepForfeits', null, { collateral: collateral! }));
    expect(forfeits).to.deep.equal({ treasury: FORFEITED, vault: -FORFEITED });
    expect((await stranger!.eventOf(swept)).data).to.deep.include({ amount: FORFEITED, vaultClosed: false });
    const [moves, returned] = await moved(() => stranger!.send('returnCollateral', null, { listing: listing! }));
    const amount = DEPOSIT - PRICE - FORFEITED;
    expect(moves).to.deep.equal({ creator: amount, vault: -amount });
    expect((await stranger!.eventOf(returned)).data).to.deep.include({ amount, vaultClosed: true });
  });

  it('close_dispute lets anyone return its rent 30 days after the outcome', async () => {
    const dispute = disputeOf('four');
    const signature = await stranger!.send('closeDispute', null, { dispute });
    expect((await stranger!.eventOf(signature)).name).to.equal('disputeClosed');
    expect(await market.lamportsOf(dispute)).to.equal(0n);
  });
});
