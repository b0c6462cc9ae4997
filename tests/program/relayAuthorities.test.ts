/** set_relay_authorities: one to eight keys, each of which can act on executions that another one opened. */
import { type Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { namedKeypair } from '../harness/vm/keys.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { FEE, GAS_LAMPORTS, PRICE, type World, world } from '../harness/vm/world.ts';
import { TOKEN_BYTES } from './exploits/acts.ts';

const RELAYS = Array.from({ length: 9 }, (_, index) => namedKeypair(`relay ${index}`));
const keysOf = (relays: Keypair[]) => relays.map(({ publicKey }) => publicKey);

describe('set_relay_authorities', () => {
  let w: World;
  const eight = RELAYS.slice(0, 8);

  beforeEach(async () => {
    w = await world();
    for (const [index, { publicKey }] of RELAYS.entries()) {
      await w.vm.airdrop(publicKey, 1_000_000_000n);
      w.watch(`relay ${index}`, publicKey);
    }
  });

  const set = (relayAuthorities: PublicKey[], admin = w.admin) =>
    program.setRelayAuthorities({ admin: admin.publicKey, relayAuthorities });
  const rejects = (relayAuthorities: PublicKey[]) =>
    w.rejects([set(relayAuthorities)], [w.admin], 'InvalidRelayAuthorities');
  const config = () => w.read('Config', program.findConfig());

  it('accepts eight and one, replaces the previous ones, and clears unused places', async () => {
    for (const relays of [eight, RELAYS.slice(0, 1), RELAYS.slice(2, 5)]) {
      const keys = keysOf(relays);
      const { events } = await w.moves([set(keys)], [w.admin], {});
      expect(plain(events)).to.deep.equal([
        {
          name: 'RelayAuthoritiesChanged',
          data: plain({ config: program.findConfig(), relayAuthorities: keys }),
        },
      ]);
      const after = await config();
      expect(after.relayAuthorityCount).to.equal(keys.length);
      const padded = [...keys, ...Array(8 - keys.length).fill(PublicKey.default)];
      expect(plain(after.relayAuthorities)).to.deep.equal(plain(padded));
    }
  });

  it('lets any of eight settle and refund an execution that another opened', async () => {
    await w.must([set(keysOf(eight))], [w.admin]);
    const rent = w.vm.rent(TOKEN_BYTES);
    for (const [index, opener] of eight.entries()) {
      const next = (index + 1) % eight.length;
      const input = w.openGrantInput({ relayAuthority: opener.publicKey, payer: opener.publicKey });
      await w.must([program.openExecutionWithGrant(input)], [opener]);
      const run = w.execution(input.nonce, input.wallet, input.keyId, opener.publicKey);
      const by = eight[next]!;
      if (index % 2 === 0) {
        await w.moves([w.settleInstruction(run, { relayAuthority: by.publicKey })], [by], {
          creator: { usdc: PRICE - FEE },
          treasury: { usdc: FEE },
          [`relay ${index}`]: { lamports: rent },
          [`relay ${next}`]: { lamports: GAS_LAMPORTS },
        });
      } else {
        await w.moves([w.refundInstruction(run, { authority: by.publicKey })], [by], {
          caller: { usdc: PRICE },
          [`relay ${index}`]: { lamports: rent },
          [`relay ${next}`]: { lamports: GAS_LAMPORTS },
        });
      }
    }
  });

  it('lets any of eight revoke a key', async () => {
    await w.must([set(keysOf(eight))], [w.admin]);
    const authority = eight[7]!;
    const wallet = w.caller.publicKey;
    await w.must([program.revokeGrant({ authority: authority.publicKey, wallet, keyId: w.keyId })], [authority]);
  });

  it('rejects: zero authorities, nine, a duplicate, and the zero key', async () => {
    await rejects([]);
    await rejects(keysOf(RELAYS));
    const [first, second] = keysOf(RELAYS) as [PublicKey, PublicKey];
    await rejects([first, second, first]);
    await rejects([...keysOf(RELAYS.slice(0, 7)), first]);
    await rejects([PublicKey.default]);
    await rejects([first, PublicKey.default]);
  });

  it('rejects: anybody but the admin, and an admin that does not sign', async () => {
    const [first] = keysOf(RELAYS) as [PublicKey];
    for (const who of [w.relay, w.creator, w.caller, w.stranger]) {
      await w.rejects([set([first], who)], [who], 'NotAdmin');
    }
    const unsigned = set([first]);
    unsigned.keys[0]!.isSigner = false;
    await w.rejects([unsigned], [], 'AccountNotSigner');
  });

  it('rejects: every action of a removed authority immediately, also those it signed before', async () => {
    const [kept, removed] = eight as [Keypair, Keypair];
    await w.must([set(keysOf([kept, removed]))], [w.admin]);
    const input = w.openGrantInput({ relayAuthority: removed.publicKey, payer: removed.publicKey });
    await w.must([program.openExecutionWithGrant(input)], [removed]);
    const run = w.execution(input.nonce, input.wallet, input.keyId, removed.publicKey);
    const settle = w.settleInstruction(run, { relayAuthority: removed.publicKey });
    await w.rejects([set(keysOf([kept])), settle], [w.admin, removed], 'NotRelayAuthority');
    await w.must([set(keysOf([kept]))], [w.admin]);
    await w.rejects([settle], [removed], 'NotRelayAuthority');
    const refund = w.refundInstruction(run, { authority: removed.publicKey });
    await w.rejects([refund], [removed], 'RefundTooEarly');
    const open = w.openGrantInput({ relayAuthority: removed.publicKey, payer: removed.publicKey });
    await w.rejects([program.openExecutionWithGrant(open)], [removed], 'NotRelayAuthority');
    const revoke = { authority: removed.publicKey, wallet: w.caller.publicKey, keyId: w.keyId };
    await w.rejects([program.revokeGrant(revoke)], [removed], 'NotGrantAuthority');
    await w.must([w.settleInstruction(run, { relayAuthority: kept.publicKey })], [kept]);
  });

  it('gives no gas to a removed authority that refunds like anybody else', async () => {
    const [kept, removed] = eight as [Keypair, Keypair];
    const run = await w.openWithGrant();
    await w.must([set(keysOf([kept]))], [w.admin]);
    await w.vm.setClock(START + 660n);
    await w.moves([w.refundInstruction(run, { authority: removed.publicKey })], [removed], {
      caller: { usdc: PRICE },
      relay: { lamports: w.vm.rent(TOKEN_BYTES) },
      tank: { lamports: GAS_LAMPORTS },
    });
  });
});
