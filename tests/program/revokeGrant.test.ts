/** revoke_grant: the wallet or the relay ends a key's grant. */
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { plain } from '../harness/vm/plain.ts';
import { useWorld } from '../harness/vm/world.ts';

describe('revoke_grant', () => {
  const w = useWorld();

  const revoke = (authority: { publicKey: program.RevokeGrantInput['authority'] }) =>
    program.revokeGrant({ authority: authority.publicKey, wallet: w.caller.publicKey, keyId: w.keyId });
  const grant = () => w.read('KeyGrant', program.findGrant(w.caller.publicKey, w.keyId));

  for (const who of ['caller', 'relay'] as const) {
    it(`ends the key's right permanently when the ${who} signs`, async () => {
      const before = await grant();
      const outcome = await w.moves([revoke(w[who])], [w[who]], {});
      expect(plain(await grant())).to.deep.equal(plain({ ...before, revoked: true }));
      const address = program.findGrant(w.caller.publicKey, w.keyId);
      expect(plain(outcome.events)).to.deep.equal([
        { name: 'GrantRevoked', data: plain({ grant: address, wallet: w.caller.publicKey, keyId: w.keyId }) },
      ]);
      await w.rejects([program.openExecutionWithGrant(w.openGrantInput())], [w.relay], 'GrantRevoked');
    });
  }

  it('works on a grant that has expired', async () => {
    await w.vm.setClock((await grant()).expiresAt);
    await w.must([revoke(w.caller)], [w.caller]);
    expect((await grant()).revoked).to.equal(true);
  });

  it('does not change other keys of the wallet', async () => {
    const keyId = new Uint8Array(16).fill(0x77);
    await w.must([program.createGrant(w.grantInput({}, keyId))], [w.caller]);
    await w.must([revoke(w.caller)], [w.caller]);
    await w.openWithGrant({ keyId });
  });

  it('rejects: anybody else', async () => {
    for (const who of [w.stranger, w.admin, w.creator]) await w.rejects([revoke(who)], [who], 'NotGrantAuthority');
  });

  it('rejects: a second revocation', async () => {
    await w.must([revoke(w.relay)], [w.relay]);
    await w.rejects([revoke(w.caller)], [w.caller], 'GrantRevoked');
  });
});
