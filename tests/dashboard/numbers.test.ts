/** Numbers and amounts as the page shows them: with a comma between thousands, and never rounded up. */
import { expect } from 'chai';
import { formatAmount, formatCents, group } from '../../app/dashboard/parts/amount.ts';

describe('the numbers of the page', () => {
  it('have a comma between thousands, and none in decimals', () => {
    const of = (text: string) => [text, group(text)];
    expect(['0', '12', '123', '1234', '12345.6789012', '-1234', '-123', '4611686018427'].map(of)).to.deep.equal([
      ['0', '0'],
      ['12', '12'],
      ['123', '123'],
      ['1234', '1,234'],
      ['12345.6789012', '12,345.6789012'],
      ['-1234', '-1,234'],
      ['-123', '-123'],
      ['4611686018427', '4,611,686,018,427'],
    ]);
  });

  it('are the amounts of the format that browsers have', () => {
    const exact = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 });
    for (const usdc of [
      0,
      0.000001,
      0.0495,
      0.1,
      0.1 + 0.2,
      1,
      9.99,
      999.95,
      1_000,
      1_234_567.891234,
      4_611_686_018_427.5,
    ])
      expect(formatAmount(usdc)).to.equal(`${exact.format(usdc)} USDC`);
    expect(formatAmount(null)).to.equal('unknown');
    expect([0.005, 0.01, 0.019, 1_234.999].map(formatCents)).to.deep.equal([
      'under 0.01 USDC',
      '0.01 USDC',
      '0.01 USDC',
      '1,234.99 USDC',
    ]);
  });
});
