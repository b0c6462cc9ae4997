/** USDC amounts: exact in both directions, and every refusal names its rule. */
import { expect } from 'chai';
import { formatUsdc, parseUsdc, toUsdc } from '../../app/sdk/wire/usdc.ts';

/** Base units, each with its decimal text. */
const AMOUNTS: [bigint, string][] = [
  [0n, '0'],
  [10n, '0.00001'],
  [123_456n, '0.123456'],
  [1_000_000n, '1'],
  [1_500_000n, '1.5'],
  [1_000_000_000n, '1000'],
  [8_589_934_591_999_999n, '8589934591.999999'],
];

describe('sdk/usdc', () => {
  it('prints and reads amounts in every form', () => {
    for (const [baseUnits, text] of AMOUNTS) {
      expect(formatUsdc(baseUnits)).to.equal(text);
      expect(JSON.stringify(toUsdc(baseUnits))).to.equal(text);
      expect(parseUsdc(text)).to.equal(baseUnits);
      expect(parseUsdc(JSON.parse(text))).to.equal(baseUnits);
    }
  });

  it('returns every amount unchanged through text and through a JSON number', () => {
    // A fixed linear congruential sequence: 20,000 amounts spread over all magnitudes below 2^33 USDC.
    let state = 20_261_121n;
    for (let round = 0; round < 20_000; round += 1) {
      state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n;
      const baseUnits = ((state >> 8n) % 10n ** BigInt(1 + (round % 16))) % 8_589_934_592_000_000n;
      const json = JSON.stringify(toUsdc(baseUnits));
      expect(json).to.match(/^\d+(\.\d{1,6})?$/);
      expect(parseUsdc(JSON.parse(json))).to.equal(baseUnits);
      expect(parseUsdc(formatUsdc(baseUnits))).to.equal(baseUnits);
    }
  });

  it('prints every u64 as text, and as a number with at most 6 decimals', () => {
    const largest = 2n ** 64n - 1n;
    expect(formatUsdc(largest)).to.equal('18446744073709.551615');
    expect(parseUsdc('18446744073709.551615')).to.equal(largest);
    expect(JSON.stringify(toUsdc(largest))).to.match(/^\d+(\.\d{1,6})?$/);
  });

  it('accepts trailing zeros within 6 decimals', () => {
    expect(parseUsdc('1.500000')).to.equal(1_500_000n);
    expect(parseUsdc('0.0')).to.equal(0n);
    expect(parseUsdc(-0)).to.equal(0n);
  });

  const REFUSED: [string | number, string][] = [
    ['0.0000001', 'at most 6 decimal places'],
    [0.1 + 0.2, 'at most 6 decimal places'],
    [1e-7, 'at most 6 decimal places'],
    ['-1', 'not be negative'],
    [-0.5, 'not be negative'],
    [Number.NaN, 'finite number'],
    [Number.POSITIVE_INFINITY, 'finite number'],
    ['18446744073709.551616', 'at most 18446744073709.551615'],
    ['1'.repeat(1_000_000), 'at most 18446744073709.551615'],
    [2 ** 53, 'at most 18446744073709.551615'],
    ['', 'plain decimal'],
    [' 1', 'plain decimal'],
    ['1\n', 'plain decimal'],
    ['+1', 'plain decimal'],
    ['.5', 'plain decimal'],
    ['01', 'plain decimal'],
    ['1e3', 'plain decimal'],
    ['0x10', 'plain decimal'],
    ['١', 'plain decimal'],
    ['NaN', 'plain decimal'],
  ];
  it('rejects: what is no amount, with the rule, and negative base units', () => {
    for (const [value, rule] of REFUSED) {
      expect(() => parseUsdc(value), String(value).slice(0, 24)).to.throw(RangeError, rule);
    }
    expect(() => toUsdc(-1n)).to.throw(RangeError, 'not be negative');
    expect(() => formatUsdc(-1n)).to.throw(RangeError, 'not be negative');
  });
});
