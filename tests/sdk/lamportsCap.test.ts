/** The default lamports cap of a new key. */
import { expect } from 'chai';
import { proposeMaxLamports } from '../../app/sdk/wallet/lamportsCap.ts';

const USDC = 1_000_000n;
const GAS = 20_000;
/** Gas and refundable deposits of one call. */
const CALL = 5_020_000n;

describe('sdk/lamportsCap', () => {
  const cases: [string, bigint, number, bigint][] = [
    ['500 calls of 0.1 USDC for 50 USDC per period', 50n * USDC, GAS, 500n * CALL],
    ['21 calls for 2.1 USDC per period', 2_100_000n, GAS, 21n * CALL],
    ['20 calls at least, however little the key may spend', 1n, GAS, 20n * CALL],
    ['the deposits alone for a key that takes no gas', 50n * USDC, 0, 500n * 5_000_000n],
    ['a limit that needs more than a thousand SOL, and no more than those', 1_000_000n * USDC, GAS, 1_000_000_000_000n],
  ];
  for (const [what, periodMax, maxGasLamports, cap] of cases) {
    it(`proposes enough for ${what}`, () => {
      expect(proposeMaxLamports({ periodMax, maxGasLamports })).to.equal(cap);
    });
  }
});
