/**
 * A creator and a wallet with API keys, without server, command line or SDK. Every call is made with Anchor and the
 * IDL's JSON, on a real node. Who may act when, and every lamport, is tested in tests/program.
 */
import { AccountLayout, createApproveInstruction } from '@solana/spl-token';
import { Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import { expect } from 'chai';
import { type Client, find, hex, possession, readable, refusal, sha256 } from './client.ts';
import { bn, DEPOSIT, listAgent, type Market, SIGNATURE, startMarket, terms } from './market.ts';

const DAY = 86_400;
const FIRST_PRICE = 250_000n;
const PRICE = 500_000n;
const URI = 'https://example.com/agent.json';

describe('an integrator without the service: listings and grants by Anchor and the IDL', function () {
  // Each chapter depends on the one before it.
  this.bail(true);
  let market: Market;
  let moved: Market['moved'];
  let [creator, caller]: Client[] = [];
  let [listing, collateral, grant]: PublicKey[] = [];
  const signingKey = Keypair.generate();
  const listingId = Buffer.alloc(16, 7);
  const keyId = sha256('an API key').subarray(0, 16);

  const limits = (perExecutionMax: bigint, expiresAt: number) => ({
    perExecutionMax: bn(perExecutionMax),
    periodMax: bn(10_000_000n),
    totalMax: bn(50_000_000n),
    periodSeconds: DAY,
    expiresAt: bn(expiresAt),
    maxGasLamports: 20_000,
  });

  before(async () => {
    market = await startMarket();
    moved = market.moved;
    ({ creator, caller } = market.clients);
    listing = find('LISTING_SEED', creator.wallet.toBytes(), listingId);
    collateral = find('COLLATERAL_SEED', listing.toBytes());
    market.parties.vault = find('COLLATERAL_VAULT_SEED', listing.toBytes());
    grant = find('GRANT_SEED', caller.wallet.toBytes(), keyId);
  });
  after(() => market.stop());

  it("list_agent works with the signing key's own signature", async () => {
    const [moves, signature] = await moved(() => listAgent(market, listingId, signingKey, FIRST_PRICE));
    expect(moves).to.deep.equal({ creator: -DEPOSIT, vault: DEPOSIT });
    const event = await creator!.eventOf(signature);
    expect(event.name).to.equal('agentListed');
    expect(event.data).to.deep.include({
      listing: listing!.toBase58(),
      creator: creator!.wallet.toBase58(),
      signingKey: signingKey.publicKey.toBase58(),
      payout: market.parties.creator!.toBase58(),
      price: FIRST_PRICE,
      deposited: DEPOSIT,
      listingVersion: 1,
    });
    expect(readable(await creator!.fetch('creatorCollateral', collateral!))).to.deep.include({
      listing: listing!.toBase58(),
      deposited: DEPOSIT,
      slashed: 0n,
    });
    const tie = await creator!.fetch('signingKey', find('KEY_SEED', signingKey.publicKey.toBytes()));
    expect(tie.listing.toBase58()).to.equal(listing!.toBase58());
  });

  it('update_listing raises the version with new terms', async () => {
    const args = { maxDeposit: bn(DEPOSIT), terms: terms(PRICE, URI) };
    const accounts = { listing: listing!, payout: market.parties.creator! };
    const signature = await creator!.send('updateListing', args, accounts);
    expect(await creator!.eventOf(signature)).to.deep.equal({
      name: 'listingUpdated',
      data: {
        listing: listing!.toBase58(),
        payout: market.parties.creator!.toBase58(),
        price: PRICE,
        timeoutSeconds: 60,
        minTimeoutSeconds: 1,
        tagMask: 0b101,
        listingVersion: 2,
        metadataHash: hex(sha256('description')),
        metadataUri: URI,
      },
    });
    expect(readable(await creator!.fetch('agentListing', listing!))).to.deep.include({
      price: PRICE,
      listingVersion: 2,
      metadataUri: URI,
    });
  });

  it('set_listing_status pauses and resumes', async () => {
    const set = (status: object) => creator!.send('setListingStatus', { status }, { listing: listing! });
    const paused = await set({ paused: {} });
    expect(await creator!.eventOf(paused)).to.deep.equal({
      name: 'listingStatusChanged',
      data: { listing: listing!.toBase58(), status: 1 },
    });
    expect((await creator!.fetch('agentListing', listing!)).status).to.deep.equal({ paused: {} });
    await set({ active: {} });
  });

  it("names an error of Anchor's own checks too", async () => {
    const sending = creator!.send('setListingStatus', { status: { paused: {} } }, { listing: market.usdcMint });
    expect(await refusal(sending)).to.equal('AccountOwnedByWrongProgram');
  });

  it("rotate_signing_key works with the new key's signature", async () => {
    const next = Keypair.generate();
    const args = { signingKey: next.publicKey, possession: possession(next, listing!) };
    const signature = await creator!.send('rotateSigningKey', args, { listing: listing! });
    expect(await creator!.eventOf(signature)).to.deep.equal({
      name: 'signingKeyRotated',
      data: { listing: listing!.toBase58(), signingKey: next.publicKey.toBase58() },
    });
    expect(readable(await creator!.fetch('agentListing', listing!))).to.deep.include({
      signingKey: next.publicKey.toBase58(),
      listingVersion: 2,
    });
  });

  it('top_up_collateral deposits more collateral', async () => {
    const accounts = { listing: listing!, source: market.parties.creator! };
    const topUp = () => creator!.send('topUpCollateral', { amount: bn(1_000_000n) }, accounts);
    const [moves, signature] = await moved(topUp);
    expect(moves).to.deep.equal({ creator: -1_000_000n, vault: 1_000_000n });
    expect(await creator!.eventOf(signature)).to.deep.equal({
      name: 'collateralToppedUp',
      data: { listing: listing!.toBase58(), amount: 1_000_000n, deposited: DEPOSIT + 1_000_000n, slashed: 0n },
    });
  });

  it('create_grant and its SPL approval work in one transaction', async () => {
    const source = market.parties.caller!;
    const spender = find('SPENDER_SEED', caller!.wallet.toBytes());
    const approval = createApproveInstruction(source, spender, caller!.wallet, 50_000_000n);
    const expiresAt = (await market.node.now()) + 30 * DAY;
    const args = { keyId: [...keyId], limits: limits(1_000_000n, expiresAt) };
    const signature = await caller!.send('createGrant', args, {}, { after: [approval] });
    expect((await caller!.eventOf(signature)).data).to.deep.include({
      grant: grant!.toBase58(),
      wallet: caller!.wallet.toBase58(),
      keyId: hex(keyId),
      perExecutionMax: 1_000_000n,
      expiresAt: BigInt(expiresAt),
      maxGasLamports: 20_000,
    });
    const account = await market.connection.getAccountInfo(source, 'confirmed');
    const { delegate, delegatedAmount } = AccountLayout.decode(account!.data);
    expect([delegate.toBase58(), delegatedAmount]).to.deep.equal([spender.toBase58(), 50_000_000n]);
  });

  it('withdraw_gas returns plain transfers', async () => {
    const gasBalance = find('SPENDER_SEED', caller!.wallet.toBytes());
    const { wallet } = caller!;
    const deposit = SystemProgram.transfer({ fromPubkey: wallet, toPubkey: gasBalance, lamports: 10_000_000 });
    const funds = await market.lamportsOf(wallet);
    const signature = await caller!.send('withdrawGas', { lamports: bn(4_000_000) }, {}, { before: [deposit] });
    expect(await market.lamportsOf(wallet)).to.equal(funds - 6_000_000n - SIGNATURE);
    expect(await caller!.eventOf(signature)).to.deep.equal({
      name: 'gasWithdrawn',
      data: { wallet: wallet.toBase58(), spender: gasBalance.toBase58(), lamports: 4_000_000n, remaining: 6_000_000n },
    });
  });

  it('update_grant, revoke_grant and close_grant work for the wallet', async () => {
    const accounts = { grant: grant! };
    const expiresAt = (await market.node.now()) + 60 * DAY;
    await caller!.send('updateGrant', { limits: limits(2_000_000n, expiresAt) }, accounts);
    expect(readable(await caller!.fetch('keyGrant', grant!))).to.deep.include({
      perExecutionMax: 2_000_000n,
      expiresAt: BigInt(expiresAt),
      revoked: false,
    });

    const revoked = await caller!.send('revokeGrant', null, accounts);
    expect((await caller!.eventOf(revoked)).name).to.equal('grantRevoked');
    expect((await caller!.fetch('keyGrant', grant!)).revoked).to.equal(true);
    const closed = await caller!.send('closeGrant', null, accounts);
    expect((await caller!.eventOf(closed)).name).to.equal('grantClosed');
    expect(await market.lamportsOf(grant!)).to.equal(0n);
  });
});
