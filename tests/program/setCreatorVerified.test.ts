/** set_creator_verified grants and removes the admin's badge. */
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import * as program from '../../app/sdk/program/program.ts';
import { plain } from '../harness/vm/plain.ts';
import { START } from '../harness/vm/vm.ts';
import { useWorld } from '../harness/vm/world.ts';

const PROFILE_BYTES = 8 + 3 + 32 + 8;

describe('set_creator_verified', () => {
  const w = useWorld();

  const instruction = (verified: boolean, change: Partial<program.SetCreatorVerifiedInput> = {}) => {
    const { admin, creator } = w;
    const input = { admin: admin.publicKey, payer: admin.publicKey, creator: creator.publicKey, verified };
    return program.setCreatorVerified({ ...input, ...change });
  };
  const profile = async () => plain(await w.read('CreatorProfile', program.findCreator(w.creator.publicKey)));

  it('grants the badge, paid by the payer', async () => {
    const rent = w.vm.rent(PROFILE_BYTES);
    const outcome = await w.moves([instruction(true, { payer: w.relay.publicKey })], [w.admin, w.relay], {
      relay: { lamports: -rent },
    });
    const seeds = [Buffer.from('creator'), w.creator.publicKey.toBytes()];
    const [address, bump] = PublicKey.findProgramAddressSync(seeds, program.PROGRAM_ID);
    expect((await w.vm.getAccount(address))!.data.length).to.equal(PROFILE_BYTES);
    expect(await profile()).to.deep.equal({
      version: 1,
      bump,
      verified: true,
      creator: w.creator.publicKey.toBase58(),
      verifiedAt: START,
    });
    expect(plain(outcome.events)).to.deep.equal([
      {
        name: 'CreatorVerificationChanged',
        data: { creator: w.creator.publicKey.toBase58(), verified: true, verifiedAt: START },
      },
    ]);
  });

  it('removes the badge and grants it again, with the latest time', async () => {
    await w.must([instruction(true)], [w.admin]);
    const outcome = await w.moves([instruction(false)], [w.admin], {});
    expect(await profile()).to.include({ verified: false, verifiedAt: 0n });
    expect(outcome.events[0]?.data).to.include({ verified: false, verifiedAt: 0n });
    await w.vm.setClock(START + 100n);
    await w.must([instruction(true)], [w.admin]);
    expect(await profile()).to.include({ verified: true, verifiedAt: START + 100n });
  });
});
