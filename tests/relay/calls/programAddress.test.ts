/** The relay's own search for addresses beside web3.js's. */
import { randomBytes } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { findProgramAddress } from '../../../app/relay/chain/programAddress.ts';

const CASES = 2_000;

describe('program addresses as the relay finds them', () => {
  it(`are web3.js's, address and bump, for ${CASES} random seeds and programs`, () => {
    const bumps = new Set<number>();
    for (let made = 0; made < CASES; made += 1) {
      const programId = new PublicKey(randomBytes(32));
      const seeds = [Buffer.from('execution'), randomBytes(16), randomBytes(made % 33)];
      const [address, bump] = findProgramAddress(seeds, programId);
      const [expected, expectedBump] = PublicKey.findProgramAddressSync(seeds, programId);
      expect([address.toBase58(), bump]).to.deep.equal([expected.toBase58(), expectedBump]);
      bumps.add(bump);
    }
    // Half of all trials miss: with this many, some have missed five times in a row.
    expect(Math.min(...bumps)).to.be.below(251);
  });
});
