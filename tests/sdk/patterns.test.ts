/** Creators' patterns: RE2 runs them, reversed if they look ahead. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type Pattern, readPattern } from '../../app/sdk/wire/schemas/patterns.ts';

function accept(source: string): Pattern {
  const pattern = readPattern(source);
  if (typeof pattern === 'string') throw new Error(`${source}: ${pattern}`);
  return pattern;
}

describe('patterns', () => {
  const LOOKING: [source: string, good: string[], bad: string[]][] = [
    ['^(?=.*[A-Z])(?=.*\\d)(?!.*\\s).{8,}$', ['Passw0rds'], ['password1', 'Pass w0rd', 'Pw0']],
    ['^((?!secret).)*$', ['open'], ['a secret']],
    ['a(?!b)|c(?=d)', ['ac', 'xcd'], ['ab', 'c']],
    ['^(?!(?=a)..$)', ['ba', 'abc'], ['ab']],
    ['^(?:x(?=y)|y(?!x))+$', ['xyy', 'y'], ['yx', 'xx']],
    ['^(?=😀)[^ä]{2}$', ['😀a'], ['a😀', '😀ä', '😀']],
    ['(?=a)\\x62|\\0(?=1)1\\-', ['\u00001-'], ['ab']],
    ['(?<=a)b(?<!cab)', ['ab', 'xab'], ['b', 'cab']],
    ['^(?i:a(?=B))', ['ab', 'AB'], ['ac']],
  ];
  for (const [source, good, bad] of LOOKING) {
    it(`may look ahead or behind: ${source}`, () => {
      const { test } = accept(source);
      for (const text of good) expect(test(text), text).to.equal(true);
      for (const text of bad) expect(test(text), text).to.equal(false);
    });
  }

  it('fit the texts that they fit in JavaScript', () => {
    const { part } = fc.letrec<{ part: string }>((tie) => {
      const parts = (least: number, most: number) => fc.array(tie('part'), { minLength: least, maxLength: most });
      const open = fc.constantFrom('(?:', '(', '(?=', '(?!');
      const times = fc.constantFrom('*', '+', '?', '{0,2}', '{2}', '*?', '{1,}');
      return {
        part: fc.oneof(
          { maxDepth: 4 },
          fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '^', '$', '\\b', '\\B', '', '\\.', '1'),
          parts(0, 4).map((all) => all.join('')),
          fc.tuple(open, parts(1, 2)).map(([begin, all]) => `${begin}${all.join('|')})`),
          fc.tuple(tie('part'), times).map(([one, count]) => `(?:a|${one})${count}`),
        ),
      };
    });
    const text = fc.array(fc.constantFrom('a', 'b', '.', '1', ' ', '\n'), { maxLength: 7 }).map((all) => all.join(''));
    fc.assert(
      fc.property(part, fc.array(text, { minLength: 1, maxLength: 6 }), (source, texts) => {
        const { test } = accept(source);
        for (const one of texts) expect(test(one), `${source} on ${one}`).to.equal(new RegExp(source, 'u').test(one));
      }),
      { numRuns: 2_000 },
    );
  });

  it('take time in proportion to the text, also where JavaScript takes exponentially long', () => {
    const { test } = accept('^(?=(a+)+$)(?!(a|a)*c)(a*)*$');
    expect(test('a'.repeat(20_000))).to.equal(true);
    expect(test(`${'a'.repeat(20_000)}b`)).to.equal(false);
  });

  it('rejects: a backreference, looking ahead and behind at once, a broken one, and one that grows too large', () => {
    for (const [source, reason] of [
      ['(a)\\1', 'escape sequence'],
      ['(?=a)(a)\\1', 'a backreference'],
      ['(?=a)(?<=a)', 'a lookbehind beside a lookahead'],
      ['(?=a', 'Unterminated group'],
      ['(?=(a{1000}){1000})', 'invalid repeat count'],
      [`(?=a)[\\p{L}\\-\\_]\\@${'x'.repeat(200)}`, '(Invalid escape)'],
    ] as const) {
      expect(readPattern(source), source)
        .to.match(/^must be a regular expression that RE2 can read/)
        .and.include(reason);
    }
  });
});
