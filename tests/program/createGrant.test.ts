/**
 * create_grant sets the limits of an API key, update_grant changes them, and revoke_grant ends the key. The wallet that
 * they limit must sign; a relay may revoke.
 */
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { plain } from '../harness/vm/plain.ts';
import { GRANT_BYTES } from '../harness/vm/sizes.ts';
import { START } from '../harness/vm/vm.ts';
import { PRICE, USDC, useWorld } from '../harness/vm/world.ts';

const YEAR = 31_536_000n;
/** The id of a second key. */
const OTHER = new Uint8Array(16).fill(0x43);

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
    const spenderSeeds = [Buffer.from('spender'), w.caller.publicKey.toBytes()];
    const [, spenderBump] = PublicKey.findProgramAddressSync(spenderSeeds, program.PROGRAM_ID);
    const bumps = { bump, spenderBump, sourceBump: 255 };
    expect(await w.read('KeyGrant', address)).to.include({
      ...bumps,
      ...input.limits,
      periodStart: START,
      totalSpent: 0n,
    });
  });

  it('accepts limits at their edges', async () => {
    const huge = 0xffff_ffff_ffff_ffffn;
    const most = { perExecutionMax: huge, periodMax: huge, totalMax: huge, periodSeconds: 0xffff_ffff };
    await w.must([create({ ...most, expiresAt: START + YEAR })], [w.caller]);
    const least = { perExecutionMax: 1n, periodMax: 1n, totalMax: 1n, periodSeconds: 1, expiresAt: START + 1n };
    await w.must([program.createGrant(w.grantInput(least, OTHER))], [w.caller]);
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
    const frugal = w.grantInput({ maxGasLamports: 0 }, OTHER);
    await w.must([program.createGrant(frugal)], [w.caller]);
    const update = (maxGasLamports: number) =>
      program.updateGrant({ wallet: w.caller.publicKey, keyId, limits: { ...frugal.limits, maxGasLamports } });
    await w.must([update(100_000)], [w.caller]);
    await w.rejects([update(100_001)], [w.caller], 'GrantGasOutOfBounds');
  });

  it('rejects: an expiry in the past, or more than a year ahead, also as a new limit', async () => {
    await w.must([program.createGrant(w.grantInput({}, OTHER))], [w.caller]);
    const update = (expiresAt: bigint) =>
      program.updateGrant({ wallet: w.caller.publicKey, keyId: OTHER, limits: w.grantInput({ expiresAt }).limits });
    await w.vm.setClock(START + 5n);
    const now = START + 5n;
    for (const expiresAt of [now, now - 1n, 0n, -1n, now + YEAR + 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      await w.rejects([create({ expiresAt })], [w.caller], 'GrantExpiryOutOfBounds');
      await w.rejects([update(expiresAt)], [w.caller], 'GrantExpiryOutOfBounds');
    }
    await w.must([update(now + YEAR)], [w.caller]);
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

  it('rejects: new limits for a revoked grant', async () => {
    const authority = w.caller.publicKey;
    await w.must([program.revokeGrant({ authority, wallet: authority, keyId })], [w.caller]);
    await w.rejects([update({ periodMax: 100n * USDC })], [w.caller], 'GrantRevoked');
    await w.rejects([open()], [w.relay], 'GrantRevoked');
  });
});

describe('revoke_grant', () => {
  const w = useWorld();

  const revoke = (authority: { publicKey: program.RevokeGrantInput['authority'] }) =>
    program.revokeGrant({ authority: authority.publicKey, wallet: w.caller.publicKey, keyId: w.keyId });
  const grant = () => w.read('KeyGrant', program.findGrant(w.caller.publicKey, w.keyId));

  for (const who of ['caller', 'relay'] as const) {
    it(`ends the key's right permanently when the ${who} signs`, async () => {
      const before = await grant();
      await w.moves([revoke(w[who])], [w[who]], {});
      expect(plain(await grant())).to.deep.equal(plain({ ...before, revoked: true }));
      await w.rejects([program.openExecutionWithGrant(w.openGrantInput())], [w.relay], 'GrantRevoked');
    });
  }

  it('rejects: anybody else', async () => {
    for (const who of [w.stranger, w.admin, w.creator]) await w.rejects([revoke(who)], [who], 'NotGrantAuthority');
  });

  it('rejects: a second revocation', async () => {
    await w.must([revoke(w.relay)], [w.relay]);
    await w.rejects([revoke(w.caller)], [w.caller], 'GrantRevoked');
  });
});
