/** Relay authorities, each of which can act on executions that another one opened. pendingChanges.test.ts adds some. */
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { useWorld } from '../harness/vm/world.ts';

describe('relay authorities', () => {
  const [kept, removed] = [namedKeypair('relay 0'), namedKeypair('relay 1')];
  const w = useWorld({ config: { relayAuthorities: [kept.publicKey, removed.publicKey] } });

  it('rejects: every action of a removed authority immediately, also those it signed before', async () => {
    for (const { publicKey } of [kept, removed]) await w.vm.airdrop(publicKey, 1_000_000_000n);
    const { publicKey } = removed;
    const input = w.openGrantInput({ relayAuthority: publicKey, payer: publicKey });
    await w.must([program.openExecutionWithGrant(input)], [removed]);
    const run = w.execution(input.nonce, input.wallet, input.keyId, publicKey);
    const settle = w.settleInstruction(run, { relayAuthority: publicKey });
    const remove = program.removeRelayAuthority({ authority: w.admin.publicKey, relayAuthority: publicKey });
    await w.rejects([remove, settle], [w.admin, removed], 'NotRelayAuthority');
    await w.must([remove], [w.admin]);
    await w.rejects([settle], [removed], 'NotRelayAuthority');
    await w.rejects([w.refundInstruction(run, { authority: publicKey })], [removed], 'RefundTooEarly');
    const open = w.openGrantInput({ relayAuthority: publicKey, payer: publicKey });
    await w.rejects([program.openExecutionWithGrant(open)], [removed], 'NotRelayAuthority');
    const revoke = { authority: publicKey, wallet: w.caller.publicKey, keyId: w.keyId };
    await w.rejects([program.revokeGrant(revoke)], [removed], 'NotGrantAuthority');
    await w.must([w.settleInstruction(run, { relayAuthority: kept.publicKey })], [kept]);
  });
});
