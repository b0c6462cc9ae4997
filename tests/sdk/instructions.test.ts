/**
 * Instruction builders of admin, listing, grant, execution and dispute. Arguments and accounts are compared with bytes,
 * seeds and flags written by hand, not read from the IDL.
 */
import { createHash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';

const TOKEN = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ASSOCIATED = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const SYSTEM = new PublicKey('11111111111111111111111111111111');
const key = (fill: number) => new PublicKey(new Uint8Array(32).fill(fill));
const filled = (length: number, fill: number) => new Uint8Array(length).fill(fill);
const u16 = (value: number) => Buffer.from(Uint16Array.of(value).buffer);
const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
const u64 = (value: bigint) => Buffer.from(BigUint64Array.of(BigInt.asUintN(64, value)).buffer);
const pda = (...seeds: (string | Uint8Array)[]) =>
  PublicKey.findProgramAddressSync(
    seeds.map((seed) => Buffer.from(seed as string)),
    program.PROGRAM_ID,
  )[0];
const MAX = 2n ** 64n - 1n;

const [admin, creator, payer, caller, sponsor, account, mint] = [1, 2, 3, 4, 5, 6, 7].map(key) as [
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
];
const listing = key(20);
const executionId = filled(16, 21);
const keyId = filled(16, 22);
const config = pda('config');
const treasury = pda('treasury');
const change = pda('change', u64(9n));
const collateral = pda('collateral', listing.toBytes());
const vault = pda('collateral_vault', listing.toBytes());
const record = pda('execution', executionId);
const escrow = pda('escrow', record.toBytes());
const unclaimed = pda('unclaimed');
const dispute = pda('dispute', record.toBytes());
const grant = pda('grant', caller.toBytes(), keyId);
const [spender, spenderBump] = PublicKey.findProgramAddressSync(
  [Buffer.from('spender'), caller.toBytes()],
  program.PROGRAM_ID,
);
/** SHA-256 by Node, over the concatenated parts. */
const sha256 = (...parts: (string | Uint8Array)[]) =>
  createHash('sha256')
    .update(Buffer.concat(parts.map((part) => Buffer.from(part as string))))
    .digest();
const deposited = { listing, listingVersion: 2, requestHash: filled(32, 3), timeoutSeconds: 4, nonce: filled(16, 5) };
const quote = { terms: deposited, payer: caller, price: 6n, serviceFee: 7n, usdcMint: mint };
const domain = 'agent-marketplace:deposit-terms:v1:';
const termsHash = sha256(domain, listing.toBytes(), u32(2), filled(32, 3), u32(4), filled(16, 5));
const depositOf = (named: PublicKey) =>
  pda('deposit', sha256('agent-marketplace:deposit:v1:', termsHash, named.toBytes(), u64(6n), u64(7n)));
const deposit = depositOf(caller);
const depositVault = PublicKey.findProgramAddressSync(
  [deposit.toBytes(), TOKEN.toBytes(), mint.toBytes()],
  ASSOCIATED,
)[0];
const limits = {
  perExecutionMax: 1n,
  periodMax: 2n,
  totalMax: MAX,
  periodSeconds: 3,
  expiresAt: 4n,
  maxGasLamports: 5,
};

const archived: program.ExecutionRecord = {
  ...{ version: 1, status: 'completed', executionId, listing, caller, price: MAX, settledAt: 6n },
  ...{
    disputeWindowSeconds: 7,
    bump: 8,
    escrowBump: 9,
    spenderBump: 10,
    signingKey: account,
    keyId,
    rentSponsor: sponsor,
  },
  ...{ requestHash: filled(32, 10), resultHash: filled(32, 11), openedAt: 12n, deadline: 13n, refundAt: 14n },
  ...{ listingVersion: 15, executionTimeMs: 16, gasLamports: 17, feeBps: 18 },
};
/** Its fields after those that a dispute needs. */
const archivedRest = Buffer.concat([
  ...[Buffer.of(8, 9, 10), account.toBytes(), keyId, sponsor.toBytes(), filled(32, 10), filled(32, 11)],
  ...[u64(12n), u64(13n), u64(14n), u32(15), u32(16), u32(17), u16(18)],
]);

/** Accounts with their flags: read, signer, writable, or both. */
type Flagged = [PublicKey, '' | 'S' | 'W' | 'SW'];

const TABLE: [name: string, instruction: TransactionInstruction, args: Uint8Array[], accounts: Flagged[]][] = [
  [
    'accept_admin',
    program.acceptAdmin({ nextAdmin: account, changeId: 9n, rentSponsor: sponsor }),
    [],
    [
      [account, 'S'],
      [config, 'W'],
      [change, 'W'],
      [sponsor, 'W'],
    ],
  ],
  [
    'cancel_all_changes',
    program.cancelAllChanges({ authority: account }),
    [],
    [
      [account, 'S'],
      [config, 'W'],
    ],
  ],
  [
    'propose_change',
    program.proposeChange({
      ...{ admin, payer, changeId: 9n, guardian: account, addedRelayAuthorities: [caller, sponsor] },
      settings: { feeBps: 5 },
    }),
    [
      ...[u64(9n), Buffer.of(0, 1), u16(5), filled(9, 0), u32(2), caller.toBytes(), sponsor.toBytes()],
      ...[Buffer.of(1), account.toBytes(), Buffer.of(0)],
    ],
    [
      [admin, 'S'],
      [payer, 'SW'],
      [config, ''],
      [change, 'W'],
      [SYSTEM, ''],
    ],
  ],
  [
    'apply_change',
    program.applyChange({ changeId: 9n, rentSponsor: sponsor }),
    [],
    [
      [config, 'W'],
      [change, 'W'],
      [sponsor, 'W'],
    ],
  ],
  [
    'cancel_change',
    program.cancelChange({ authority: account, changeId: 9n, rentSponsor: sponsor }),
    [],
    [
      [account, 'S'],
      [config, ''],
      [change, 'W'],
      [sponsor, 'W'],
    ],
  ],
  [
    'set_pause',
    program.setPause({ authority: account, isPaused: true }),
    [Buffer.of(1)],
    [
      [account, 'S'],
      [config, 'W'],
    ],
  ],
  [
    'remove_relay_authority',
    program.removeRelayAuthority({ authority: account, relayAuthority: caller }),
    [caller.toBytes()],
    [
      [account, 'S'],
      [config, 'W'],
    ],
  ],
  [
    'withdraw_treasury',
    program.withdrawTreasury({ admin, destination: account, amount: MAX }),
    [u64(MAX)],
    [
      [admin, 'S'],
      [config, ''],
      [treasury, 'W'],
      [account, 'W'],
      [TOKEN, ''],
    ],
  ],
  [
    'rotate_signing_key',
    program.rotateSigningKey({ creator, payer, listing, signingKey: key(9), possession: filled(64, 10) }),
    [key(9).toBytes(), filled(64, 10)],
    [
      [creator, 'S'],
      [payer, 'SW'],
      [listing, 'W'],
      [pda('key', key(9).toBytes()), 'W'],
      [SYSTEM, ''],
    ],
  ],
  [
    'delist_agent',
    program.delistAgent({ creator, listing }),
    [],
    [
      [creator, 'S'],
      [config, ''],
      [listing, 'W'],
      [collateral, 'W'],
    ],
  ],
  [
    'top_up_collateral',
    program.topUpCollateral({ creator, listing, source: account, amount: 5n }),
    [u64(5n)],
    [
      [creator, 'S'],
      [listing, ''],
      [collateral, 'W'],
      [vault, 'W'],
      [account, 'W'],
      [TOKEN, ''],
    ],
  ],
  [
    'return_collateral',
    program.returnCollateral({ creator, listing, usdcMint: mint, rentSponsor: sponsor }),
    [],
    [
      [config, ''],
      [listing, ''],
      [collateral, 'W'],
      [vault, 'W'],
      [program.findTokenAccount(creator, mint), 'W'],
      [treasury, 'W'],
      [sponsor, 'W'],
      [TOKEN, ''],
    ],
  ],
  [
    'sweep_forfeits',
    program.sweepForfeits({ listing, rentSponsor: sponsor }),
    [],
    [
      [config, ''],
      [collateral, 'W'],
      [vault, 'W'],
      [treasury, 'W'],
      [sponsor, 'W'],
      [TOKEN, ''],
    ],
  ],
  [
    'update_grant',
    program.updateGrant({ wallet: caller, keyId, limits }),
    [u64(1n), u64(2n), u64(MAX), u32(3), u64(4n), u32(5)],
    [
      [caller, 'S'],
      [grant, 'W'],
    ],
  ],
  [
    'close_grant',
    program.closeGrant({ wallet: caller, keyId, rentSponsor: sponsor }),
    [],
    [
      [caller, 'S'],
      [grant, 'W'],
      [sponsor, 'W'],
    ],
  ],
  [
    'withdraw_gas',
    program.withdrawGas({ wallet: caller, lamports: MAX }),
    [u64(MAX)],
    [
      [caller, 'SW'],
      [spender, 'W'],
      [SYSTEM, ''],
    ],
  ],
  [
    'prepare_deposit',
    program.prepareDeposit({ ...quote, authority: admin, rentPayer: payer, rentSponsor: sponsor, caller }),
    [termsHash, caller.toBytes(), u64(6n), u64(7n), caller.toBytes()],
    [
      [admin, 'S'],
      [payer, 'SW'],
      [sponsor, 'W'],
      [config, ''],
      [deposit, 'W'],
      [depositVault, 'W'],
      [mint, ''],
      [TOKEN, ''],
      [ASSOCIATED, ''],
      [SYSTEM, ''],
    ],
  ],
  [
    'open_execution_from_deposit',
    program.openExecutionFromDeposit({
      relayAuthority: admin,
      payer,
      rentSponsor: sponsor,
      listing,
      usdcMint: mint,
      deposit,
      quotedPayer: null,
      depositRentSponsor: account,
      nonce: filled(16, 5),
      executionId,
      maxPrice: 6n,
      listingVersion: 2,
      timeoutSeconds: 4,
      requestHash: filled(32, 3),
      openBefore: 8n,
      gasLamports: 9,
    }),
    [
      ...[filled(16, 5), executionId, u64(6n), u32(2), u32(4), filled(32, 3), u64(8n), u32(9)],
      PublicKey.default.toBytes(),
    ],
    [
      [admin, 'S'],
      [payer, 'SW'],
      [sponsor, 'W'],
      [config, ''],
      [listing, ''],
      [collateral, 'W'],
      [deposit, 'W'],
      [depositVault, 'W'],
      [account, 'W'],
      [treasury, 'W'],
      [record, 'W'],
      [escrow, 'W'],
      [mint, ''],
      [TOKEN, ''],
      [SYSTEM, ''],
    ],
  ],
  [
    'refund_deposit',
    program.refundDeposit({ authority: payer, deposit, destination: account, rentSponsor: sponsor, usdcMint: mint }),
    [],
    [
      [payer, 'S'],
      [config, ''],
      [deposit, 'W'],
      [depositVault, 'W'],
      [account, 'W'],
      [treasury, 'W'],
      [sponsor, 'W'],
      [TOKEN, ''],
    ],
  ],
  [
    'settle_execution',
    program.settleExecution({
      relayAuthority: admin,
      executionId,
      caller,
      listing,
      payout: account,
      rentSponsor: sponsor,
      resultHash: filled(32, 8),
      signature: filled(64, 9),
      executionTimeMs: 2 ** 32 - 1,
      gasLamports: 10,
    }),
    [filled(32, 8), filled(64, 9), u32(2 ** 32 - 1), u32(10), Buffer.of(spenderBump)],
    [
      [admin, 'SW'],
      [config, ''],
      [record, 'W'],
      [listing, ''],
      [escrow, 'W'],
      [account, 'W'],
      [treasury, 'W'],
      [sponsor, 'W'],
      [spender, 'W'],
      [TOKEN, ''],
    ],
  ],
  [
    'refund_execution',
    program.refundExecution({
      authority: payer,
      executionId,
      listing,
      caller,
      keyId,
      destination: account,
      rentSponsor: sponsor,
      reason: 'unserved',
      gasLamports: 11,
    }),
    [Buffer.of(4), u32(11)],
    [
      [payer, 'SW'],
      [config, ''],
      [record, 'W'],
      [collateral, 'W'],
      [escrow, 'W'],
      [account, 'W'],
      [grant, 'W'],
      [spender, 'W'],
      [sponsor, 'W'],
      [TOKEN, ''],
    ],
  ],
  [
    'move_unclaimed_refund',
    program.moveUnclaimedRefund({
      authority: payer,
      executionId,
      listing,
      caller,
      keyId,
      rentSponsor: sponsor,
      usdcMint: mint,
      archiveIndex: 3,
      tree: account,
      reason: 'unserved',
      gasLamports: 12,
    }),
    [Buffer.of(4), u32(12)],
    [
      [payer, 'SW'],
      [config, ''],
      [record, 'W'],
      [collateral, 'W'],
      [escrow, 'W'],
      [program.findTokenAccount(caller, mint), 'W'],
      [grant, 'W'],
      [spender, 'W'],
      [sponsor, 'W'],
      [TOKEN, ''],
      [unclaimed, 'W'],
      [pda('archive', u16(3)), 'W'],
      [account, 'W'],
      [pda('__event_authority'), ''],
      [program.PROGRAM_ID, ''],
    ],
  ],
  [
    'move_unclaimed_deposit',
    program.moveUnclaimedDeposit({
      authority: payer,
      deposit: listing,
      caller,
      rentSponsor: sponsor,
      usdcMint: mint,
      archiveIndex: 3,
      tree: account,
    }),
    [],
    [
      [payer, 'S'],
      [config, ''],
      [listing, 'W'],
      [program.findTokenAccount(listing, mint), 'W'],
      [program.findTokenAccount(caller, mint), 'W'],
      [treasury, 'W'],
      [sponsor, 'W'],
      [TOKEN, ''],
      [unclaimed, 'W'],
      [pda('archive', u16(3)), 'W'],
      [account, 'W'],
      [pda('__event_authority'), ''],
      [program.PROGRAM_ID, ''],
    ],
  ],
  [
    'claim_refund',
    program.claimRefund({
      refund: { source: record, caller, amount: 5n, unclaimedAt: 6n },
      archiveIndex: 3,
      tree: account,
      leafIndex: 258,
      proof: Array.from({ length: 20 }, (_, level) => filled(32, level)),
      payer,
      destination: sponsor,
    }),
    [record.toBytes(), u64(5n), u64(6n), u32(258), ...Array.from({ length: 10 }, (_, level) => filled(32, level))],
    [
      [caller, 'S'],
      [payer, 'SW'],
      [config, ''],
      [pda('archive', u16(3)), ''],
      [account, ''],
      [pda('claim', account.toBytes(), u32(258)), 'W'],
      [unclaimed, 'W'],
      [sponsor, 'W'],
      [TOKEN, ''],
      [SYSTEM, ''],
      [pda('__event_authority'), ''],
      [program.PROGRAM_ID, ''],
    ],
  ],
  [
    'close_execution',
    program.closeExecution({ executionId, rentSponsor: sponsor }),
    [],
    [
      [record, 'W'],
      [sponsor, 'W'],
    ],
  ],
  [
    'create_archive',
    program.createArchive({ payer, tree: account, index: 0 }),
    [u16(0)],
    [
      [payer, 'SW'],
      [pda('archive', u16(0)), 'W'],
      [account, 'W'],
      [program.PROGRAM_ID, ''],
      [SYSTEM, ''],
    ],
  ],
  [
    'create_archive',
    program.createArchive({ payer, tree: account, index: 0x0100 }),
    [u16(0x0100)],
    [
      [payer, 'SW'],
      [pda('archive', u16(0x0100)), 'W'],
      [account, 'W'],
      [pda('archive', u16(0x00ff)), ''],
      [SYSTEM, ''],
    ],
  ],
  [
    'archive_executions',
    program.archiveExecutions({ index: 3, tree: account, executions: [{ record, rentSponsor: sponsor }] }),
    [],
    [
      [pda('archive', u16(3)), 'W'],
      [account, 'W'],
      [config, ''],
      [pda('__event_authority'), ''],
      [program.PROGRAM_ID, ''],
      [record, 'W'],
      [sponsor, 'W'],
    ],
  ],
  [
    'open_dispute',
    program.openDispute({
      ...{ caller, payer, executionId, listing },
      ...{ evidenceHash: filled(32, 8), evidenceUri: 'aé', maxBond: MAX },
    }),
    [filled(32, 8), u64(MAX), u32(3), Buffer.from('aé')],
    [
      [caller, 'S'],
      [payer, 'SW'],
      [config, ''],
      [record, ''],
      [collateral, 'W'],
      [dispute, 'W'],
      [SYSTEM, ''],
    ],
  ],
  [
    'open_dispute_with_proof',
    program.openDisputeWithProof({
      execution: archived,
      ...{ payer, archiveIndex: 3, tree: account, leafIndex: 0x0001_0203 },
      proof: Array.from({ length: 20 }, (_, level) => filled(32, level)),
      ...{ evidenceHash: filled(32, 8), evidenceUri: 'aé', maxBond: MAX },
    }),
    [
      executionId,
      u64(MAX),
      u64(6n),
      u32(7),
      keccak_256(archivedRest),
      u32(0x0001_0203),
      ...Array.from({ length: 10 }, (_, level) => filled(32, level)),
      ...[filled(32, 8), u64(MAX), u32(3), Buffer.from('aé')],
    ],
    [
      [caller, 'S'],
      [payer, 'SW'],
      [config, ''],
      [record, ''],
      [pda('archive', u16(3)), ''],
      [account, ''],
      [collateral, 'W'],
      [dispute, 'W'],
      [SYSTEM, ''],
    ],
  ],
  [
    'resolve_dispute',
    program.resolveDispute({
      admin,
      executionId,
      listing,
      caller,
      creator,
      rentSponsor: sponsor,
      usdcMint: mint,
      upheld: true,
      amount: MAX,
      reasonHash: filled(32, 9),
    }),
    [Buffer.of(1), u64(MAX), filled(32, 9)],
    [
      [admin, 'S'],
      [config, ''],
      [dispute, 'W'],
      [listing, 'W'],
      [collateral, 'W'],
      [vault, 'W'],
      [program.findTokenAccount(caller, mint), 'W'],
      [creator, 'W'],
      [sponsor, 'W'],
      [TOKEN, ''],
    ],
  ],
  [
    'claim_dispute_award',
    program.claimDisputeAward({ authority: payer, executionId, listing, destination: account, rentSponsor: sponsor }),
    [],
    [
      [payer, 'S'],
      [config, ''],
      [dispute, 'W'],
      [collateral, 'W'],
      [vault, 'W'],
      [account, 'W'],
      [sponsor, 'W'],
      [TOKEN, ''],
    ],
  ],
  [
    'lapse_dispute',
    program.lapseDispute({ executionId, listing, rentSponsor: sponsor }),
    [],
    [
      [dispute, 'W'],
      [collateral, 'W'],
      [sponsor, 'W'],
    ],
  ],
  [
    'close_dispute',
    program.closeDispute({ executionId, rentSponsor: sponsor }),
    [],
    [
      [dispute, 'W'],
      [sponsor, 'W'],
    ],
  ],
];

const UPDATES: [what: string, input: Omit<program.UpdateConfigInput, 'admin'>, args: Uint8Array[]][] = [
  ['nothing', {}, [filled(11, 0)]],
  [
    'zero, which is a value too',
    { liftGuardianPause: false, exposureMultiple: 0 },
    [filled(8, 0), Buffer.of(1), u32(0), Buffer.of(0, 0)],
  ],
  [
    'everything',
    {
      liftGuardianPause: true,
      feeBps: 100,
      minPrice: 2n,
      disputeBondLamports: MAX,
      disputeWindowSeconds: 3,
      refundGraceSeconds: 4,
      maxTimeoutSeconds: 5,
      recordSeconds: 11,
      exposureMultiple: 6,
      adminDelaySeconds: 7,
      tiers: [
        { maxPrice: 7n, deposit: 8n },
        { maxPrice: 9n, deposit: 10n },
      ],
    },
    [
      Buffer.of(1),
      ...[u16(100), u64(2n), u64(MAX), ...[3, 4, 5, 11, 6, 7].map(u32)].flatMap((value) => [Buffer.of(1), value]),
      Buffer.of(1),
      u32(2),
      ...[7n, 8n, 9n, 10n].map(u64),
    ],
  ],
];

function expectBytes(name: string, instruction: TransactionInstruction, args: Uint8Array[], accounts: Flagged[]): void {
  const discriminator = createHash('sha256').update(`global:${name}`).digest().subarray(0, 8);
  expect(instruction.programId.toBase58()).to.equal(program.PROGRAM_ID.toBase58());
  expect(instruction.data).to.deep.equal(Buffer.concat([discriminator, ...args]));
  const metas = instruction.keys.map((meta) => [
    meta.pubkey.toBase58(),
    `${meta.isSigner ? 'S' : ''}${meta.isWritable ? 'W' : ''}`,
  ]);
  expect(metas).to.deep.equal(accounts.map(([address, flags]) => [address.toBase58(), flags]));
}

describe('sdk, instructions of owner, listing, grant, execution and dispute', () => {
  for (const [name, instruction, args, accounts] of TABLE) {
    it(`builds ${name} byte by byte`, () => expectBytes(name, instruction, args, accounts));
  }

  for (const [what, input, args] of UPDATES) {
    it(`builds update_config of ${what}`, () => {
      expectBytes('update_config', program.updateConfig({ admin, ...input }), args, [
        [admin, 'S'],
        [config, 'W'],
      ]);
    });
  }

  it('finds the address of a quote by its terms or their hash, with and without a payer', () => {
    expect(Buffer.from(program.depositTermsHash(deposited))).to.deep.equal(termsHash);
    for (const terms of [deposited, Uint8Array.from(termsHash)]) {
      for (const payer of [caller, null]) {
        const found = program.depositAddress({ ...quote, terms, payer });
        expect(found.address.toBase58()).to.equal(depositOf(payer ?? PublicKey.default).toBase58());
      }
    }
    expect(program.depositAddress(quote).vault.toBase58()).to.equal(depositVault.toBase58());
    expect(() => program.depositTermsHash({ ...deposited, nonce: filled(15, 5) })).to.throw(RangeError, '16 bytes');
  });

  it('has a builder for every instruction of the program', () => {
    const builders = new Set(Object.keys(program));
    const missing = program.idl.instructions
      .map(({ name }) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
      .filter((name) => !builders.has(name));
    expect(missing).to.deep.equal([]);
  });
});
