/** The SDK's search for program addresses, and its curve check, compared with web3.js. */
import { randomBytes } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { findConfig, findProgramAddress, parseAddress } from '../../app/sdk/program/addresses.ts';
import { isOnCurve } from '../../app/sdk/program/programAddress.ts';

const CASES = 2_000;

describe('sdk/programAddress', () => {
  it('parses addresses only, and no name of a seed', () => {
    expect(parseAddress(findConfig().toBase58()).equals(findConfig())).to.equal(true);
    for (const text of ['config', 'program data', '']) expect(() => parseAddress(text), text).to.throw();
  });

  it(`finds web3.js's address and bump for ${CASES} random seeds and programs`, () => {
    const bumps = new Set<number>();
    for (let made = 0; made < CASES; made += 1) {
      const programId = new PublicKey(randomBytes(32));
      const seeds = [Buffer.from('execution'), randomBytes(16), randomBytes(made % 33)];
      const [address, bump] = findProgramAddress(seeds, programId);
      const [expected, expectedBump] = PublicKey.findProgramAddressSync(seeds, programId);
      expect([address.toBase58(), bump]).to.deep.equal([expected.toBase58(), expectedBump]);
      bumps.add(bump);
    }
    // Half of all trials miss. With this many cases, some miss five times in a row.
    expect(Math.min(...bumps)).to.be.below(251);
  });

  it(`agrees with web3.js on which bytes are curve points, for ${CASES} random ones and the edge values`, () => {
    const P = 2n ** 255n - 19n;
    const small = Array.from({ length: 40 }, (_, index) => BigInt(index));
    // Only y below the prime: web3.js refuses the few encodings beyond it, and no hash will ever be one.
    const edges = [...small, ...small.map((y) => P - 1n - y), (P - 1n) / 2n, (P + 1n) / 2n];
    const encoded = edges.map((y) => Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse());
    const random = Array.from({ length: CASES }, () => randomBytes(32));
    let points = 0;
    for (const bytes of [...encoded, ...random]) {
      expect(isOnCurve(bytes), bytes.toString('hex')).to.equal(PublicKey.isOnCurve(bytes));
      if (isOnCurve(bytes)) points += 1;
    }
    expect(points).to.be.within(CASES * 0.4, CASES * 0.6);
  });
});
