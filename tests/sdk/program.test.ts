/** The program client compared with bytes, hashes and addresses computed by hand, not from the IDL that it reads. */
import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';

const PROGRAM = new PublicKey('6wYfSpZq2bXE3TSRRh8HhNT8oHf4kZdy13ti9Nyepsyo');
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SYSTEM = '11111111111111111111111111111111';
const key = (fill: number) => new PublicKey(new Uint8Array(32).fill(fill));
const filled = (length: number, fill: number) => new Uint8Array(length).fill(fill);
const sha256 = (text: string) => createHash('sha256').update(text).digest();
const pda = (...seeds: (string | Uint8Array)[]) =>
  PublicKey.findProgramAddressSync(
    seeds.map((seed) => Buffer.from(seed as string)),
    PROGRAM,
  )[0].toBase58();
const u16 = (value: number) => Buffer.from(Uint16Array.of(value).buffer);
const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
const u64 = (value: bigint) => Buffer.from(BigUint64Array.of(BigInt.asUintN(64, value)).buffer);

describe('program addresses', () => {
  it('are derived from the specified seeds', () => {
    const [wallet, listing, record, signing] = [key(1), key(2), key(3), key(4)];
    const id = filled(16, 5);
    expect(program.PROGRAM_ID.toBase58()).to.equal(PROGRAM.toBase58());
    const table: [PublicKey, string][] = [
      [program.findConfig(), pda('config')],
      [program.findTreasury(), pda('treasury')],
      [program.findCreator(wallet), pda('creator', wallet.toBytes())],
      [program.findListing(wallet, id), pda('listing', wallet.toBytes(), id)],
      [program.findSigningKey(signing), pda('key', signing.toBytes())],
      [program.findCollateral(listing), pda('collateral', listing.toBytes())],
      [program.findCollateralVault(listing), pda('collateral_vault', listing.toBytes())],
      [program.findGrant(wallet, id), pda('grant', wallet.toBytes(), id)],
      [program.findSpender(wallet), pda('spender', wallet.toBytes())],
      [program.findExecution(id), pda('execution', id)],
      [program.findEscrow(record), pda('escrow', record.toBytes())],
      [program.findDispute(record), pda('dispute', record.toBytes())],
      [program.findArchive(0), pda('archive', Uint8Array.of(0, 0))],
      [program.findArchive(0x0102), pda('archive', Uint8Array.of(2, 1))],
      [program.findEventAuthority(), pda('__event_authority')],
    ];
    for (const [found, expected] of table) expect(found.toBase58()).to.equal(expected);
  });

  it('derive the associated token account of wallets and of program addresses', () => {
    const [mint, offCurve] = [key(9), new PublicKey(pda('config'))];
    const [expected] = PublicKey.findProgramAddressSync(
      [offCurve.toBytes(), new PublicKey(TOKEN).toBytes(), mint.toBytes()],
      new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
    );
    expect(program.findTokenAccount(offCurve, mint).toBase58()).to.equal(expected.toBase58());
  });
});

describe('decodeAccount', () => {
  const record = Buffer.concat([
    sha256('account:ExecutionRecord').subarray(0, 8),
    Buffer.of(1, 2),
    filled(16, 1),
    filled(32, 2),
    filled(32, 3),
    u64(2n ** 64n - 1n),
    u64(-1n),
    u32(259_200),
    Buffer.of(254, 253, 252),
    filled(32, 4),
    filled(16, 5),
    filled(32, 6),
    filled(32, 7),
    filled(32, 8),
    u64(1_800_000_000n),
    u64(1_800_000_060n),
    u64(1_800_000_660n),
    u32(0xffff_ffff),
    u32(1_250),
    u32(20_000),
    u16(100),
  ]);

  it('reads a record, its widest numbers and its enum', () => {
    expect(program.decodeAccount('ExecutionRecord', record)).to.deep.equal({
      version: 1,
      status: 'refunded',
      bump: 254,
      escrowBump: 253,
      spenderBump: 252,
      executionId: filled(16, 1),
      listing: key(2),
      caller: key(3),
      signingKey: key(4),
      keyId: filled(16, 5),
      rentSponsor: key(6),
      price: 2n ** 64n - 1n,
      requestHash: filled(32, 7),
      resultHash: filled(32, 8),
      openedAt: 1_800_000_000n,
      deadline: 1_800_000_060n,
      refundAt: 1_800_000_660n,
      settledAt: -1n,
      disputeWindowSeconds: 259_200,
      listingVersion: 0xffff_ffff,
      executionTimeMs: 1_250,
      gasLamports: 20_000,
      feeBps: 100,
    });
  });

  it('has the offsets used by filters', () => {
    const at = program.RECORD_OFFSETS;
    expect(record[at.status]).to.equal(program.RECORD_STATUS_BYTE.refunded);
    const fills = { executionId: 1, listing: 2, caller: 3, signingKey: 4, keyId: 5, rentSponsor: 6 } as const;
    for (const [name, fill] of Object.entries(fills)) {
      const offset = at[name as keyof typeof fills];
      expect([record[offset - 1] === fill, record[offset], record[offset + 15]]).to.deep.equal([false, fill, fill]);
    }
    expect([record[at.requestHash], record[at.resultHash]]).to.deep.equal([7, 8]);
    expect(record.readBigUInt64LE(at.price)).to.equal(2n ** 64n - 1n);
    const times = [at.openedAt, at.deadline, at.refundAt, at.settledAt].map((offset) => record.readBigInt64LE(offset));
    expect(times).to.deep.equal([1_800_000_000n, 1_800_000_060n, 1_800_000_660n, -1n]);
  });

  it('reads a listing with its string and its offsets', () => {
    const listing = Buffer.concat([
      sha256('account:AgentListing').subarray(0, 8),
      Buffer.of(1, 1, 255),
      filled(32, 1),
      filled(16, 2),
      filled(32, 3),
      filled(32, 4),
      u64(10_000n),
      u32(60),
      u32(5),
      u32(7),
      u16(0b11),
      filled(32, 6),
      u64(1n),
      u32(3),
      Buffer.from('aé'),
      filled(197, 0xee),
    ]);
    const decoded = program.decodeAccount('AgentListing', listing);
    expect(decoded).to.deep.include({ status: 'paused', price: 10_000n, listingVersion: 7, tagMask: 3, listedAt: 1n });
    expect(decoded.metadataUri).to.equal('aé');
    const at = program.LISTING_OFFSETS;
    const offsets = [at.status, at.creator, at.listingId, at.payout, at.signingKey];
    expect(offsets.map((offset) => listing[offset])).to.deep.equal([1, 1, 2, 3, 4]);
  });

  it('reads the tiers of a config as pairs, and only its used relay authorities', () => {
    const numbers = [10_000n, 1n, 20_000n, 2n, 0n, 0n, 0n, 0n];
    const config = Buffer.concat([
      sha256('account:Config').subarray(0, 8),
      Buffer.of(1, 0, 1),
      u16(100),
      Buffer.of(2, 3),
      filled(32, 4),
      filled(32, 6),
      filled(32, 7),
      u64(10_000n),
      u64(9n),
      ...[259_200, 600, 3_600, 3_601, 263_400, 0, 8].map(u32),
      ...[30n, 20n, ...numbers].map(u64),
      ...[11, 12, 13, 0, 0, 0, 0, 0].map((fill) => filled(32, fill)),
      filled(64, 0),
    ]);
    const decoded = program.decodeAccount('Config', config);
    expect(decoded).to.deep.include({
      adminPaused: false,
      guardianPaused: true,
      feeBps: 100,
      tierCount: 2,
      admin: key(4),
    });
    expect(decoded).to.deep.include({ guardian: key(6), adminDelaySeconds: 8, changesValidFrom: 30n, adminSince: 20n });
    expect(program.relayAuthoritiesOf(decoded)).to.deep.equal([11, 12, 13].map(key));
    expect(decoded.tiers).to.deep.equal([
      { maxPrice: 10_000n, deposit: 1n },
      { maxPrice: 20_000n, deposit: 2n },
      { maxPrice: 0n, deposit: 0n },
      { maxPrice: 0n, deposit: 0n },
    ]);
  });

  it('reads the flags and counters of a grant', () => {
    const numbers = [50n, 60n, 150n].map(u64);
    const rest = [200n, 100n, 100n, 5n, 6n, 7n, 8n].map(u64);
    const ids = [filled(32, 3), filled(16, 4), filled(32, 5)];
    const head = [sha256('account:KeyGrant').subarray(0, 8), Buffer.of(1, 1, 2, 9, 8), ...ids];
    const grant = Buffer.concat([...head, ...numbers, u32(10), ...rest, u32(20_000), filled(16, 0)]);
    expect(program.decodeAccount('KeyGrant', grant)).to.deep.equal({
      version: 1,
      revoked: true,
      bump: 2,
      spenderBump: 9,
      sourceBump: 8,
      wallet: key(3),
      keyId: filled(16, 4),
      rentSponsor: key(5),
      perExecutionMax: 50n,
      periodMax: 60n,
      totalMax: 150n,
      periodSeconds: 10,
      expiresAt: 200n,
      createdAt: 100n,
      periodStart: 100n,
      periodSpent: 5n,
      totalSpent: 6n,
      executionCount: 7n,
      lastOpenedAt: 8n,
      maxGasLamports: 20_000,
      reserved: filled(16, 0),
    });
    const at = program.GRANT_OFFSETS;
    expect([at.revoked, at.wallet, at.keyId, at.rentSponsor].map((offset) => grant[offset])).to.deep.equal([
      1, 3, 4, 5,
    ]);
    expect([at.wallet, at.keyId, at.rentSponsor].map((offset) => grant[offset - 1])).to.deep.equal([8, 3, 4]);
  });

  it('reads the account of a collateral with its counters', () => {
    const head = [
      sha256('account:CreatorCollateral').subarray(0, 8),
      Buffer.of(1, 1, 2, 3),
      filled(32, 4),
      filled(32, 5),
    ];
    const numbers = [100n, 10n, 7n, 2n, 9n, 11n, 12n, 13n].map(u64);
    const book = Buffer.concat([...head, ...numbers, u32(14), filled(24, 0)]);
    expect(program.decodeAccount('CreatorCollateral', book)).to.deep.equal({
      version: 1,
      returned: true,
      bump: 2,
      vaultBump: 3,
      listing: key(4),
      rentSponsor: key(5),
      deposited: 100n,
      slashed: 10n,
      owed: 7n,
      forfeited: 2n,
      exposureOpened: 9n,
      exposureWindowStart: 11n,
      returnableAt: 12n,
      sweepableAt: 13n,
      openDisputes: 14,
      reserved: filled(24, 0),
    });
  });

  it("reads a deposit and the offsets for finding a caller's deposits", () => {
    const head = [sha256('account:Deposit').subarray(0, 8), Buffer.of(1, 2, 3), filled(32, 4), filled(32, 5)];
    const deposit = Buffer.concat([...head, filled(32, 6), ...[7n, 8n, 9n, 10n].map(u64)]);
    expect(program.decodeAccount('Deposit', deposit)).to.deep.equal({
      version: 1,
      bump: 2,
      vaultBump: 3,
      hash: filled(32, 4),
      caller: key(5),
      rentSponsor: key(6),
      price: 7n,
      serviceFee: 8n,
      preparedAt: 9n,
      expiresAt: 10n,
    });
    expect(deposit.subarray(program.DEPOSIT_OFFSETS.caller, program.DEPOSIT_OFFSETS.rentSponsor)).to.deep.equal(
      Buffer.from(filled(32, 5)),
    );
  });

  it('reads a dispute, its outcomes and its offsets', () => {
    const fills = [1, 2, 3, 4, 5, 6].map((fill) => filled(32, fill));
    const numbers = [100n, 6n, 50n, 7n, 8n, 9n, -1n].map(u64);
    const head = sha256('account:Dispute').subarray(0, 8);
    const [disputed, ...others] = fills as [Uint8Array, ...Uint8Array[]];
    const dispute = Buffer.concat([head, Buffer.of(1, 3, 9), disputed, filled(16, 7), ...others, ...numbers]);
    expect(program.decodeAccount('Dispute', dispute)).to.deep.equal({
      version: 1,
      outcome: 'lapsed',
      bump: 9,
      record: key(1),
      executionId: filled(16, 7),
      listing: key(2),
      caller: key(3),
      rentSponsor: key(4),
      evidenceHash: filled(32, 5),
      reasonHash: filled(32, 6),
      openedAt: 100n,
      bond: 6n,
      price: 50n,
      amountToCaller: 7n,
      amountSlashed: 8n,
      owed: 9n,
      resolvedAt: -1n,
    });
    const at = program.DISPUTE_OFFSETS;
    for (const [outcome, byte] of Object.entries(program.DISPUTE_OUTCOME_BYTE)) {
      dispute[at.outcome] = byte;
      expect(program.decodeAccount('Dispute', dispute).outcome).to.equal(outcome);
    }
    for (const [name, fill] of Object.entries({ record: 1, listing: 2, caller: 3, rentSponsor: 4 } as const)) {
      const offset = at[name as 'record'];
      expect([dispute[offset - 1] === fill, dispute[offset], dispute[offset + 31]]).to.deep.equal([false, fill, fill]);
    }
  });

  it('refuses the data of another account type, and truncated data', () => {
    expect(() => program.decodeAccount('KeyGrant', record)).to.throw('discriminator');
    expect(() => program.decodeAccount('ExecutionRecord', record.subarray(0, 100))).to.throw();
  });

  it('knows every discriminator', () => {
    for (const { name } of program.idl.accounts!) {
      const expected = sha256(`account:${name}`).subarray(0, 8);
      expect(Buffer.from(program.accountDiscriminator(name as keyof program.Accounts))).to.deep.equal(expected);
    }
  });
});

describe('instruction builders', () => {
  it('encode an open byte by byte', () => {
    const instruction = program.openExecutionWithGrant({
      relayAuthority: key(1),
      payer: key(2),
      listing: key(3),
      wallet: key(4),
      keyId: filled(16, 5),
      usdcMint: key(6),
      nonce: filled(16, 7),
      executionId: filled(16, 8),
      maxPrice: 2n ** 64n - 1n,
      listingVersion: 9,
      timeoutSeconds: 60,
      requestHash: filled(32, 10),
      openBefore: -2n,
      rentSponsor: key(11),
      gasLamports: 100_000,
      feeLamports: 2_345,
      spenderLendsEscrow: true,
    });
    const discriminator = sha256('global:open_execution_with_grant').subarray(0, 8);
    const open = [filled(16, 7), filled(16, 8), u64(2n ** 64n - 1n), u32(9), u32(60), filled(32, 10), u64(-2n)];
    const args = [...open, u32(100_000), u32(2_345), Buffer.of(1)];
    expect(instruction.data).to.deep.equal(Buffer.concat([discriminator, ...args]));
    const record = program.findExecution(filled(16, 8));
    expect(instruction.keys.map((meta) => [meta.pubkey.toBase58(), meta.isSigner, meta.isWritable])).to.deep.equal([
      [key(1).toBase58(), true, false],
      [key(2).toBase58(), true, true],
      [key(11).toBase58(), false, true],
      [pda('config'), false, false],
      [key(3).toBase58(), false, false],
      [pda('collateral', key(3).toBytes()), false, true],
      [pda('grant', key(4).toBytes(), filled(16, 5)), false, true],
      [pda('spender', key(4).toBytes()), false, true],
      [record.toBase58(), false, true],
      [pda('escrow', record.toBytes()), false, true],
      [program.findTokenAccount(key(4), key(6)).toBase58(), false, true],
      [key(6).toBase58(), false, false],
      [TOKEN, false, false],
      [SYSTEM, false, false],
    ]);
  });

  it('encode a listing with its proof of possession', () => {
    const instruction = program.listAgent({
      creator: key(1),
      payer: key(2),
      listingId: filled(16, 3),
      signingKey: key(4),
      possession: filled(64, 5),
      source: key(6),
      payout: key(7),
      usdcMint: key(8),
      maxDeposit: 7n,
      terms: {
        price: 10_000n,
        timeoutSeconds: 60,
        minTimeoutSeconds: 5,
        tagMask: 0b11,
        metadataHash: filled(32, 9),
        metadataUri: 'aé',
      },
    });
    const terms = [u64(10_000n), u32(60), u32(5), u16(0b11), filled(32, 9), u32(3), Buffer.from('aé')];
    const discriminator = sha256('global:list_agent').subarray(0, 8);
    const args = [filled(16, 3), key(4).toBytes(), filled(64, 5), u64(7n), ...terms];
    expect(instruction.data).to.deep.equal(Buffer.concat([discriminator, ...args]));
    const listing = pda('listing', key(1).toBytes(), filled(16, 3));
    const seed = new PublicKey(listing).toBytes();
    expect(instruction.keys.map((meta) => [meta.pubkey.toBase58(), meta.isSigner, meta.isWritable])).to.deep.equal([
      [key(1).toBase58(), true, false],
      [key(2).toBase58(), true, true],
      [pda('config'), false, false],
      [listing, false, true],
      [pda('key', key(4).toBytes()), false, true],
      [pda('collateral', seed), false, true],
      [pda('collateral_vault', seed), false, true],
      [key(6).toBase58(), false, true],
      [key(7).toBase58(), false, false],
      [key(8).toBase58(), false, false],
      [TOKEN, false, false],
      [SYSTEM, false, false],
    ]);
  });

  it('encode enums, flags and an instruction without arguments', () => {
    const status = program.setListingStatus({ creator: key(1), listing: key(2), status: 'delisted' });
    expect(status.data).to.deep.equal(
      Buffer.concat([sha256('global:set_listing_status').subarray(0, 8), Buffer.of(2)]),
    );
    for (const [number, reason] of program.REFUND_REASONS.entries()) {
      const execution = {
        ...{ executionId: filled(16, 1), listing: key(5), caller: key(1) },
        ...{ keyId: filled(16, 0), rentSponsor: key(2) },
      };
      const accounts = { authority: key(3), destination: key(4), ...execution };
      const refund = program.refundExecution({ ...accounts, reason, gasLamports: 258 });
      expect(refund.data.subarray(8)).to.deep.equal(Buffer.of(number, 2, 1, 0, 0));
    }
    const verified = { admin: key(1), payer: key(1), creator: key(2), verified: true };
    expect(program.setCreatorVerified(verified).data.subarray(8)).to.deep.equal(Buffer.of(...key(2).toBytes(), 1));
    const revoke = program.revokeGrant({ authority: key(1), wallet: key(1), keyId: filled(16, 1) });
    expect(revoke.data).to.deep.equal(sha256('global:revoke_grant').subarray(0, 8));
  });

  it('encode lists of tiers and of relay authorities with their lengths', () => {
    const instruction = program.initializeConfig({
      authority: key(1),
      payer: key(2),
      usdcMint: key(3),
      admin: key(4),
      guardian: key(9),
      relayAuthorities: [key(5), key(8)],
      feeBps: 100,
      minPrice: 10_000n,
      disputeBondLamports: 1n,
      disputeWindowSeconds: 2,
      refundGraceSeconds: 3,
      maxTimeoutSeconds: 4,
      recordSeconds: 11,
      exposureMultiple: 5,
      adminDelaySeconds: 10,
      tiers: [{ maxPrice: 6n, deposit: 7n }],
    });
    const numbers = [u16(100), u64(10_000n), u64(1n), ...[2, 3, 4, 11, 5, 10, 1].map(u32), u64(6n), u64(7n)];
    const keys = [key(4).toBytes(), key(9).toBytes(), u32(2), key(5).toBytes(), key(8).toBytes()];
    const expected = Buffer.concat([...keys, ...numbers]);
    expect(instruction.data.subarray(8)).to.deep.equal(expected);
  });

  it('name the listing in the proof of possession', () => {
    const expected = Buffer.concat([Buffer.from('agent-marketplace:register:v1:'), key(7).toBytes()]);
    expect(Buffer.from(program.registerMessage(key(7)))).to.deep.equal(expected);
  });

  it("approve the wallet's spender for an exact amount", () => {
    const approve = program.approveSpender({ wallet: key(1), usdcMint: key(2), amount: 2n ** 64n - 1n });
    expect(approve.data).to.deep.equal(Buffer.concat([Buffer.of(4), u64(2n ** 64n - 1n)]));
    const [account, delegate, owner] = approve.keys.map((meta) => meta.pubkey.toBase58());
    expect(account).to.equal(program.findTokenAccount(key(1), key(2)).toBase58());
    expect([delegate, owner]).to.deep.equal([pda('spender', key(1).toBytes()), key(1).toBase58()]);
  });
});

describe('the gas balance', () => {
  it('is filled by a transfer of the system program', () => {
    const deposit = program.depositGas({ from: key(1), wallet: key(2), lamports: 2n ** 64n - 1n });
    expect(deposit.programId.toBase58()).to.equal(SYSTEM);
    expect(Buffer.from(deposit.data)).to.deep.equal(Buffer.concat([u32(2), u64(2n ** 64n - 1n)]));
    expect(deposit.keys.map((meta) => [meta.pubkey.toBase58(), meta.isSigner, meta.isWritable])).to.deep.equal([
      [key(1).toBase58(), true, true],
      [pda('spender', key(2).toBytes()), false, true],
    ]);
  });
});

describe('errorFromCode', () => {
  it("knows the program's error codes and no others", () => {
    expect(program.errorFromCode(6000)).to.deep.include({ code: 6000, name: 'NotUpgradeAuthority' });
    const named = ({ name }: { name: string }) => name.charAt(0).toUpperCase() + name.slice(1);
    for (const error of program.idl.errors) {
      expect(program.errorFromCode(error.code)).to.deep.equal({ ...error, name: named(error) });
    }
    const last = 5999 + program.idl.errors!.length;
    expect(program.errorFromCode(last)?.name).to.match(/^[A-Z]/);
    for (const code of [0, 1, 2003, 5999, last + 1]) expect(program.errorFromCode(code)).to.equal(null);
  });
});
