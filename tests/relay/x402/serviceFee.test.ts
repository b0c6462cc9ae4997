/** The service fee of x402 calls: at least 1.5 times what they cost, in steps, and within the program's limit. */
import { expect } from 'chai';
import { costOf, serviceFeeAt } from '../../../app/relay/calls/x402/serviceFee.ts';
import { USUAL_SERVICE_FEE } from '../../../app/relay/config.ts';
import { constants } from '../../../app/sdk/program/program.ts';

const NONE = { open: 0n, settle: 0n };
const SOL = 1_000_000_000n;

describe('the service fee of x402 calls', () => {
  it('counts the four transactions of a call, their priority, the most that a payment costs, and the archive', () => {
    expect(costOf(NONE)).to.equal(15_000n + 12_000n + 700n);
    expect(costOf({ open: 100n, settle: 30n })).to.equal(27_700n + 230n);
  });

  it('is the lowest fee if that covers the cost, else the next step above', () => {
    expect(serviceFeeAt(USUAL_SERVICE_FEE, NONE)).to.equal(5_000n);
    const at = (solPrice: bigint, least = 0n) => serviceFeeAt({ least, solPrice }, NONE);
    expect(at(1n)).to.equal(1_000n);
    expect(at(100_000_000n)).to.equal(5_000n);
    expect(at(200_000_000n)).to.equal(9_000n);
    expect(at(200_000_000n, 8_999n)).to.equal(9_000n);
    expect(at(200_000_000n, 9_001n)).to.equal(9_001n);
  });

  it('covers 1.5 times the cost at every price and priority', () => {
    for (const solPrice of [1n, 7_654_321n, 99_999_999n, 250_000_000n]) {
      for (const open of [0n, 1n, 999n, 12_345n]) {
        const priority = { open, settle: open + 1n };
        const fee = serviceFeeAt({ least: 0n, solPrice }, priority)!;
        expect(fee * SOL * 2n >= costOf(priority) * solPrice * 3n, `${solPrice} ${open}`).to.equal(true);
      }
    }
  });

  it('is unknown if the program does not allow so much', () => {
    const priced = (solPrice: bigint) => serviceFeeAt({ least: 0n, solPrice }, NONE);
    const most = (constants.maxServiceFee * SOL * 2n) / (costOf(NONE) * 3n);
    expect(priced(most)).to.equal(constants.maxServiceFee);
    expect(priced(most + 1n)).to.equal(null);
  });
});
