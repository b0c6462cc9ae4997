/** Numbers and amounts as the page shows them: with a comma between thousands, and never above what they are. */
import { expect } from 'chai';
import { formatAmount, formatCents, formatShortSol, formatterOf, group } from '../../app/dashboard/parts/amount.ts';

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

  it('have in a column all as many decimals as the longest', () => {
    const column = [0, 0.2475, 1_234.5];
    expect(column.map(formatterOf(column))).to.deep.equal(['0.0000', '0.2475', '1,234.5000']);
    expect([0.3].map(formatterOf([]))).to.deep.equal(['0.30']);
  });

  it('of SOL have four decimals, and a balance with what was taken from it is not less than the whole', () => {
    const [balance, taken] = [499_982_749_999, 17_110_001];
    expect([formatShortSol(balance), formatShortSol(taken, { up: true })]).to.deep.equal([
      '499.9827 SOL',
      '0.0172 SOL',
    ]);
    expect([0, 5_000, 90_000_000].map((lamports) => formatShortSol(lamports))).to.deep.equal([
      '0 SOL',
      '0.000005 SOL',
      '0.0900 SOL',
    ]);
  });
});
