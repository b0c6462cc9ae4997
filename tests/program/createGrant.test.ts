/** create_grant sets the limits of an API key, and update_grant changes them. The wallet that they limit must sign. */
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { plain } from '../harness/vm/plain.ts';
import { GRANT_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { PRICE, USDC, useWorld } from '../harness/vm/world.ts';

const YEAR = 31_536_000n;

describe('create_grant', () => {
  const w = useWorld();
  const keyId = new Uint8Array(16).fill(0x42);

  const create = (limits: Partial<program.GrantLimits> = {}) => program.createGrant(w.grantInput(limits, keyId));

  it('writes the limits, paid by the payer, and moves no USDC', async () => {
    const input = { ...w.grantInput({}, keyId), payer: w.relay.publicKey };
    const rent = w.vm.rent(GRANT_BYTES);
    await w.moves([program.createGrant(input)], [w.caller, w.relay], {
      relay: { lamports: -rent },
    });
    const seeds = [Buffer.from('grant'), w.caller.publicKey.toBytes(), keyId];
    const [address, bump] = PublicKey.findProgramAddressSync(seeds, program.PROGRAM_ID);
    expect((await w.vm.getAccount(address))!.data.length).to.equal(GRANT_BYTES);
    const wallet = w.caller.publicKey;
    expect(plain(await w.read('KeyGrant', address))).to.deep.equal(
      plain({
        version: 1,
        revoked: false,
        bump,
        spenderBump: PublicKey.findProgramAddressSync(
          [Buffer.from('spender'), wallet.toBytes()],
          program.PROGRAM_ID,
        )[1],
        sourceBump: 255,
        wallet,
        keyId,
        rentSponsor: w.relay.publicKey,
        ...input.limits,
        createdAt: START,
        periodStart: START,
        periodSpent: 0n,
        totalSpent: 0n,
        executionCount: 0n,
        lastOpenedAt: 0n,
        reserved: new Uint8Array(16),
      }),
    );
  });

  it('accepts limits at their edges', async () => {
    const huge = 0xffff_ffff_ffff_ffffn;
    const most = { perExecutionMax: huge, periodMax: huge, totalMax: huge, periodSeconds: 0xffff_ffff };
    await w.must([create({ ...most, expiresAt: START + YEAR })], [w.caller]);
    const least = { perExecutionMax: 1n, periodMax: 1n, totalMax: 1n, periodSeconds: 1, expiresAt: START + 1n };
    await w.must([program.createGrant(w.grantInput(least, new Uint8Array(16).fill(0x43)))], [w.caller]);
  });

  it('rejects: a limit of zero', async () => {
    for (const name of ['perExecutionMax', 'periodMax', 'totalMax'] as const) {
      await w.rejects([create({ [name]: 0n })], [w.caller], 'GrantLimitZero');
    }
    await w.rejects([create({ periodSeconds: 0 })], [w.caller], 'GrantLimitZero');
    await w.must([create()], [w.caller]);
    const limits = { ...w.grantInput().limits, totalMax: 0n };
    const update = program.updateGrant({ wallet: w.caller.publicKey, keyId: w.keyId, limits });
    await w.rejects([update], [w.caller], 'GrantLimitZero');
  });

  it('accepts a gas limit of zero to 100,000 lamports, and no other', async () => {
    await w.rejects([create({ maxGasLamports: 100_001 })], [w.caller], 'GrantGasOutOfBounds');
    await w.must([create({ maxGasLamports: 100_000 })], [w.caller]);
    const frugal = w.grantInput({ maxGasLamports: 0 }, new Uint8Array(16).fill(0x43));
    await w.must([program.createGrant(frugal)], [w.caller]);
    const update = (maxGasLamports: number) =>
      program.updateGrant({ wallet: w.caller.publicKey, keyId, limits: { ...frugal.limits, maxGasLamports } });
    await w.must([update(100_000)], [w.caller]);
    await w.rejects([update(100_001)], [w.caller], 'GrantGasOutOfBounds');
  });

  it('rejects: an expiry in the past, or more than a year ahead', async () => {
    for (const expiresAt of [START, START - 1n, 0n, -1n, START + YEAR + 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      await w.rejects([create({ expiresAt })], [w.caller], 'GrantExpiryOutOfBounds');
    }
  });
});

describe('update_grant', () => {
  const w = useWorld();
  const keyId = new Uint8Array(16).fill(0x31);

  beforeEach(async () => {
    await w.must([program.createGrant(w.grantInput({ periodMax: PRICE }, keyId))], [w.caller]);
  });

  const open = () => program.openExecutionWithGrant(w.openGrantInput({ keyId }));
  const update = (change: Partial<program.GrantLimits>) => {
    const limits = { ...w.grantInput({ periodMax: PRICE }).limits, ...change };
    return program.updateGrant({ wallet: w.caller.publicKey, keyId, limits });
  };

  it('keeps the spend of the period when its length changes, and back', async () => {
    await w.must([open()], [w.relay]);
    for (const periodSeconds of [1, 86_400, 4_294_967_295]) {
      await w.must([update({ periodSeconds })], [w.caller]);
      await w.rejects([open()], [w.relay], 'GrantPeriodExceeded');
    }
  });

  it('rejects: an expiry more than a year ahead, or in the past', async () => {
    await w.vm.setClock(START + 5n);
    for (const expiresAt of [START + 5n, START + 5n + YEAR + 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      await w.rejects([update({ expiresAt })], [w.caller], 'GrantExpiryOutOfBounds');
    }
    await w.must([update({ expiresAt: START + 5n + YEAR })], [w.caller]);
  });

  it('rejects: new limits for a revoked grant', async () => {
    const authority = w.caller.publicKey;
    await w.must([program.revokeGrant({ authority, wallet: authority, keyId })], [w.caller]);
    await w.rejects([update({ periodMax: 100n * USDC })], [w.caller], 'GrantRevoked');
    await w.rejects([open()], [w.relay], 'GrantRevoked');
  });
});
