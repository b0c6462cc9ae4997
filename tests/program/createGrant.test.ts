/**
 * The limits of an API key's grant, and the end of its right. The wallet that they limit must sign; a relay may revoke.
 * fuzz/ has the accounts and the money.
 */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { useWorld } from '../harness/vm/world.ts';

const YEAR = 31_536_000n;
const HUGE = 2n ** 64n - 1n;

describe('grants', () => {
  const w = useWorld();

  const create = (limits: Partial<program.GrantLimits>, id = 0x42) =>
    program.createGrant(w.grantInput(limits, new Uint8Array(16).fill(id)));
  const update = (limits: Partial<program.GrantLimits>) =>
    program.updateGrant({ wallet: w.caller.publicKey, keyId: w.keyId, limits: w.grantInput(limits).limits });
  const revoke = (authority: { publicKey: program.RevokeGrantInput['authority'] }) =>
    program.revokeGrant({ authority: authority.publicKey, wallet: w.caller.publicKey, keyId: w.keyId });
  const grant = () => w.read('KeyGrant', program.findGrant(w.caller.publicKey, w.keyId));

  it('have limits up to their edges and none beyond, when they are created and when they change', async () => {
    const now = START + 5n;
    await w.vm.setClock(now);
    const most = { perExecutionMax: HUGE, periodMax: HUGE, totalMax: HUGE, periodSeconds: 0xffff_ffff };
    const least = { perExecutionMax: 1n, periodMax: 1n, totalMax: 1n, periodSeconds: 1 };
    for (const [id, limits] of [
      { ...most, expiresAt: now + YEAR, maxGasLamports: 100_000 },
      { ...least, expiresAt: now + 1n, maxGasLamports: 0 },
    ].entries()) {
      await w.must([create(limits, id + 1)], [w.caller]);
      await w.must([update(limits)], [w.caller]);
    }
    const moments = [now, now - 1n, 0n, -1n, now + YEAR + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
    const beyond: [Partial<program.GrantLimits>, string][] = [
      ...['perExecutionMax', 'periodMax', 'totalMax'].map((name): [object, string] => [
        { [name]: 0n },
        'GrantLimitZero',
      ]),
      [{ periodSeconds: 0 }, 'GrantLimitZero'],
      [{ maxGasLamports: 100_001 }, 'GrantGasOutOfBounds'],
      ...moments.map((expiresAt): [object, string] => [{ expiresAt }, 'GrantExpiryOutOfBounds']),
    ];
    for (const [limits, error] of beyond) {
      await w.rejects([create(limits)], [w.caller], error);
      await w.rejects([update(limits)], [w.caller], error);
    }
  });

  for (const who of ['caller', 'relay'] as const) {
    it(`end permanently when the ${who} revokes them, and nobody else may`, async () => {
      for (const other of [w.stranger, w.admin, w.creator]) {
        await w.rejects([revoke(other)], [other], 'NotGrantAuthority');
      }
      const before = await grant();
      await w.moves([revoke(w[who])], [w[who]], {});
      expect(plain(await grant())).to.deep.equal(plain({ ...before, revoked: true }));
      await w.rejects([program.openExecutionWithGrant(w.openGrantInput())], [w.relay], 'GrantRevoked');
      await w.rejects([update({})], [w.caller], 'GrantRevoked');
      await w.rejects([revoke(w.caller)], [w.caller], 'GrantRevoked');
    });
  }
});
