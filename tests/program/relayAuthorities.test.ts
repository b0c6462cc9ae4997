/** Up to eight relay authorities, each of which can act on executions that another one opened. */
import type { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { useWorld } from '../harness/vm/world.ts';

const RELAYS = Array.from({ length: 9 }, (_, index) => namedKeypair(`relay ${index}`));
const keysOf = (relays: Keypair[]) => relays.map(({ publicKey }) => publicKey);

describe('relay authorities', () => {
  const eight = RELAYS.slice(0, 8);
  const w = useWorld({ config: { relayAuthorities: keysOf(eight) } });

  beforeEach(async () => {
    for (const [index, { publicKey }] of RELAYS.entries()) {
      await w.vm.airdrop(publicKey, 1_000_000_000n);
      w.watch(`relay ${index}`, publicKey);
    }
  });

  const add = (...keys: PublicKey[]) => w.addRelaysInstructions(...keys);
  const remove = (relay: Keypair) =>
    program.removeRelayAuthority({ authority: w.admin.publicKey, relayAuthority: relay.publicKey });
  const present = async () => program.relayAuthoritiesOf(await w.read('Config', program.findConfig()));
  const openBy = async (relay: Keypair) => {
    const input = w.openGrantInput({ relayAuthority: relay.publicKey, payer: relay.publicKey });
    await w.must([program.openExecutionWithGrant(input)], [relay]);
    return w.execution(input.nonce, input.wallet, input.keyId, relay.publicKey);
  };

  it('make room for another when one is removed; the others keep their order', async () => {
    const [first, second] = eight as [Keypair, Keypair];
    const ninth = RELAYS[8]!;
    await w.rejects(add(ninth.publicKey), [w.admin], 'InvalidRelayAuthorities');
    const { events } = await w.moves([remove(second)], [w.admin], {});
    const left = keysOf([first, ...eight.slice(2)]);
    expect(plain(events[0]?.data)).to.deep.include(
      plain({ relayAuthority: second.publicKey, relayAuthorities: left }) as object,
    );
    await w.vm.setClock(START + 1n);
    await w.must(add(ninth.publicKey, first.publicKey), [w.admin]);
    expect(plain(await present())).to.deep.equal(plain([...left, ninth.publicKey]));
  });

  it('rejects: every action of a removed authority immediately, also those it signed before', async () => {
    const [kept, removed] = eight as [Keypair, Keypair];
    const run = await openBy(removed);
    const settle = w.settleInstruction(run, { relayAuthority: removed.publicKey });
    await w.rejects([remove(removed), settle], [w.admin, removed], 'NotRelayAuthority');
    await w.must([remove(removed)], [w.admin]);
    await w.rejects([settle], [removed], 'NotRelayAuthority');
    const refund = w.refundInstruction(run, { authority: removed.publicKey });
    await w.rejects([refund], [removed], 'RefundTooEarly');
    const open = w.openGrantInput({ relayAuthority: removed.publicKey, payer: removed.publicKey });
    await w.rejects([program.openExecutionWithGrant(open)], [removed], 'NotRelayAuthority');
    const revoke = { authority: removed.publicKey, wallet: w.caller.publicKey, keyId: w.keyId };
    await w.rejects([program.revokeGrant(revoke)], [removed], 'NotGrantAuthority');
    await w.must([w.settleInstruction(run, { relayAuthority: kept.publicKey })], [kept]);
  });
});
