/** list_agent: terms within the marketplace's limits, collateral in the vault, and a key that its creator possesses. */
import { AccountLayout } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import nacl from 'tweetnacl';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import {
  emptyWorld,
  NO_LIMIT,
  possessionOf,
  resultMessage,
  TERMS,
  TIERS,
  USDC,
  type World,
} from '../harness/vm/world.ts';

/** Encodings of the eight small-order points, sorted by y, and encodings at or above the prime 2^255 - 19. */
const WEAK_KEYS = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
];
/** The neutral point. As key and R, with S = 0, it fits any message if such keys are accepted. */
const NEUTRAL = Buffer.from(WEAK_KEYS[2]!, 'hex');

const LISTING_BYTES = 8 + 3 + 32 + 16 + 32 + 32 + 8 + 3 * 4 + 2 + 32 + 8 + 4 + 200;
const KEY_BYTES = 8 + 2 + 64;
const COLLATERAL_BYTES = 8 + 4 + 64 + 5 * 8 + 2 * 8 + 4 + 32;

describe('list_agent', () => {
  let w: World;

  beforeEach(async () => {
    w = await emptyWorld();
    await w.must([program.initializeConfig(w.configInput())], [w.vm.upgradeAuthority, w.admin]);
  });

  const withTerms = (change: Partial<program.ListingTerms>) => ({ terms: { ...TERMS, ...change } });
  const rejects = (change: Partial<program.ListAgentInput>, error: string) =>
    w.rejects([w.listInstruction(change)], [w.creator], error);
  const rents = (): bigint =>
    w.vm.rent(LISTING_BYTES) + w.vm.rent(KEY_BYTES) + w.vm.rent(COLLATERAL_BYTES) + w.vm.rent(165);

  it('creates listing, key, collateral and vault, and moves the deposit of the tier', async () => {
    const input = w.listInput({ payer: w.relay.publicKey });
    await w.moves([w.listInstruction(input)], [w.creator, w.relay], {
      creator: { usdc: -10n * USDC },
      relay: { lamports: -rents() },
      vault: { usdc: 10n * USDC, lamports: w.vm.rent(165) },
    });

    const find = (...seeds: Uint8Array[]) => PublicKey.findProgramAddressSync(seeds, program.PROGRAM_ID);
    const [listing, bump] = find(Buffer.from('listing'), w.creator.publicKey.toBytes(), w.listingId);
    expect(listing.toBase58()).to.equal(w.listing.toBase58());
    expect(plain(await w.read('AgentListing', listing))).to.deep.equal(
      plain({
        version: 1,
        status: 'active',
        bump,
        creator: w.creator.publicKey,
        listingId: w.listingId,
        payout: w.wallet(w.creator),
        signingKey: w.signingKey.publicKey,
        ...TERMS,
        listingVersion: 1,
        listedAt: START,
      }),
    );
    const [key, keyBump] = find(Buffer.from('key'), w.signingKey.publicKey.toBytes());
    expect(await w.read('SigningKey', key)).to.include({ bump: keyBump });
    const [collateral, collateralBump] = find(Buffer.from('collateral'), listing.toBytes());
    const [vault, vaultBump] = find(Buffer.from('collateral_vault'), listing.toBytes());
    const book = { bump: collateralBump, vaultBump, deposited: 10n * USDC, slashed: 0n };
    expect(await w.read('CreatorCollateral', collateral)).to.include(book);
    expect(AccountLayout.decode((await w.vm.getAccount(vault))!.data).owner.toBase58()).to.equal(vault.toBase58());
    for (const [address, bytes] of [
      [listing, LISTING_BYTES],
      [key, KEY_BYTES],
      [collateral, COLLATERAL_BYTES],
    ] as const) {
      expect((await w.vm.getAccount(address))!.data.length).to.equal(bytes);
    }
  });

  it('takes the deposit of each tier, including its highest price', async () => {
    const cases = TIERS.flatMap((tier, index) => [
      [tier.maxPrice, tier.deposit],
      [tier.maxPrice + 1n, TIERS[index + 1]?.deposit],
    ]) as [bigint, bigint | undefined][];
    for (const [index, [price, deposit]] of cases.entries()) {
      const listingId = new Uint8Array(16).fill(100 + index);
      const signingKey = namedKeypair(`tier key ${index}`);
      const change = { listingId, ...withTerms({ price }) };
      if (deposit === undefined) {
        await w.rejects([w.listInstruction(change, signingKey)], [w.creator], 'PriceAboveTiers');
        continue;
      }
      await w.must([w.listInstruction(change, signingKey)], [w.creator]);
      const listing = program.findListing(w.creator.publicKey, listingId);
      expect(await w.vm.tokens(program.findCollateralVault(listing))).to.equal(deposit);
    }
  });

  it('accepts terms at their limits', async () => {
    const cases: Partial<program.ListingTerms>[] = [
      { price: 10_000n, timeoutSeconds: 1, minTimeoutSeconds: 1, tagMask: 0b1, metadataUri: '' },
      { timeoutSeconds: 3_600, minTimeoutSeconds: 3_600, tagMask: 0b11_1110_0000, metadataUri: 'x'.repeat(200) },
    ];
    for (const [index, terms] of cases.entries()) {
      const listingId = new Uint8Array(16).fill(200 + index);
      const signingKey = namedKeypair(`limit key ${index}`);
      const change = { listingId, ...withTerms(terms) };
      await w.must([w.listInstruction(change, signingKey)], [w.creator]);
      const listing = await w.read('AgentListing', program.findListing(w.creator.publicKey, listingId));
      expect(listing).to.deep.include(terms);
    }
  });

  it('rejects: terms outside the limits, in a new listing and as new terms', async () => {
    await w.must([w.listInstruction({ listingId: new Uint8Array(16).fill(9) }, namedKeypair('listed'))], [w.creator]);
    const listing = program.findListing(w.creator.publicKey, new Uint8Array(16).fill(9));
    const place = { creator: w.creator.publicKey, listing, payout: w.payout, maxDeposit: NO_LIMIT };
    const cases: [Partial<program.ListingTerms>, string][] = [
      [{ price: 9_999n }, 'PriceBelowMinimum'],
      [{ price: 0n }, 'PriceBelowMinimum'],
      [{ price: 100n * USDC + 1n }, 'PriceAboveTiers'],
      [{ price: 0xffff_ffff_ffff_ffffn }, 'PriceAboveTiers'],
      [{ minTimeoutSeconds: 0 }, 'InvalidTimeouts'],
      [{ minTimeoutSeconds: 61 }, 'InvalidTimeouts'],
      [{ timeoutSeconds: 3_601 }, 'InvalidTimeouts'],
      [{ tagMask: 0 }, 'InvalidTags'],
      [{ tagMask: 0b11_1111 }, 'InvalidTags'],
      [{ tagMask: 0b100_0000_0000 }, 'InvalidTags'],
      [{ metadataUri: 'x'.repeat(201) }, 'UriTooLong'],
    ];
    for (const [terms, error] of cases) {
      await rejects(withTerms(terms), error);
      await w.rejects([program.updateListing({ ...place, ...withTerms(terms) })], [w.creator], error);
    }
  });

  it("rejects: a payout or a deposit's account of another owner or token, and too little USDC", async () => {
    await rejects({ payout: w.wallet(w.otherCreator) }, 'InvalidPayout');
    await rejects({ source: w.wallet(w.otherCreator) }, 'InvalidDepositSource');
    const otherMint = namedKeypair('other mint').publicKey;
    w.vm.setMint(otherMint, w.mintAuthority.publicKey);
    const others = w.vm.setWallet(w.creator.publicKey, otherMint, 500n * USDC);
    await rejects({ payout: others }, 'InvalidPayout');
    await rejects({ source: others }, 'InvalidDepositSource');
    w.vm.setWallet(w.creator.publicKey, w.usdcMint, 10n * USDC - 1n);
    await rejects({}, 'InsufficientBalance');
  });

  it('rejects: a deposit above what the creator agreed to, whatever the admin changed before the listing landed', async () => {
    const agreed = w.listInstruction({ maxDeposit: 10n * USDC });
    const tiers = (deposit: bigint) =>
      program.updateConfig({ admin: w.admin.publicKey, tiers: [{ maxPrice: 2n * USDC, deposit }] });
    await w.must([tiers(10n * USDC + 1n)], [w.admin]);
    await w.rejects([agreed], [w.creator], 'DepositAboveMax');
    await w.must([tiers(10n * USDC)], [w.admin]);
    await w.must([agreed], [w.creator]);
  });

  it('rejects: a signing key that already has a listing, even for the same creator', async () => {
    await w.must([w.listInstruction()], [w.creator]);
    await rejects({ listingId: new Uint8Array(16).fill(2) }, 'SigningKeyTaken');
    const other = w.listInput({ creator: w.otherCreator.publicKey });
    await w.rejects([w.listInstruction(other)], [w.otherCreator], 'SigningKeyTaken');
  });

  it("rejects: a missing proof of possession, another key's or listing's proof, and a result signature", async () => {
    await rejects({ possession: new Uint8Array(64) }, 'SignatureInvalid');
    await rejects({ possession: possessionOf(namedKeypair('thief'), w.listing) }, 'SignatureInvalid');
    const elsewhere = program.findListing(w.otherCreator.publicKey, w.listingId);
    await rejects({ possession: possessionOf(w.signingKey, elsewhere) }, 'SignatureInvalid');
    const result = nacl.sign.detached(resultMessage(w.listing.toBytes()), w.signingKey.secretKey);
    await rejects({ possession: result }, 'SignatureInvalid');
    await w.must([w.listInstruction()], [w.creator]);
  });

  it('rejects: a key of small order or in a second encoding, whose signatures anybody can forge', async () => {
    /** Fits every message under every key of small order. */
    const universal = Buffer.concat([NEUTRAL, Buffer.alloc(32)]);
    for (const hex of WEAK_KEYS) {
      const signingKey = new PublicKey(Buffer.from(hex, 'hex'));
      for (const change of [{}, { possession: universal }]) await rejects({ signingKey, ...change }, 'WeakSigningKey');
    }
    // Not a point of the curve, so nobody can own it.
    expect(PublicKey.isOnCurve(w.listing.toBytes())).to.equal(false);
    await rejects({ signingKey: w.listing, possession: universal }, 'SignatureInvalid');
  });
});
