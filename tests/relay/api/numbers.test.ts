/**
 * Numbers that a double cannot represent are refused with their path, because the caller would pay for a changed
 * number.
 */
import { expect } from 'chai';
import { type JsonError, parseJson } from '../../../app/relay/json.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');

describe('numbers in requests', () => {
  const LARGE = ['9007199254740991', '-9007199254740991', '1e21', '1.7976931348623157e308'];
  const FINE = ['0.1', '-0.30000000000000004', '1E-400', '123456789012345.678901234567890'];
  const TAKEN = [...LARGE, ...FINE, '"12345678901234567890"', '{"12345678901234567890": 1}'];
  it('are accepted as they are if a double holds them, and as text of any length', () => {
    for (const text of TAKEN) expect(parseJson(bytes(text)), text).to.deep.equal(JSON.parse(text));
  });

  const REFUSED: [text: string, path: string][] = [
    ['{"n":12345678901234567890}', 'n'],
    ['{"n":9007199254740992}', 'n'],
    ['{"a":{"b":[1,{"c":2},[3,1e400]]}}', 'a.b.2.1'],
    [`{"long":${'1'.repeat(400)}.5}`, 'long'],
    ['[0, 0, 10000000000000000000]', '2'],
  ];
  it('are refused otherwise, with an error that names the place', () => {
    for (const [text, path] of REFUSED) {
      expect(() => parseJson(bytes(text)), text)
        .to.throw(`"${path}"`)
        .that.satisfies((error: JsonError) => error.wrong?.path === path);
    }
  });

  it("are rounded in a creator's answer", () => {
    const text = '{"steps":[12345678901234567890]}';
    expect(parseJson(bytes(text), { roundNumbers: true })).to.deep.equal(JSON.parse(text));
    expect(() => parseJson(bytes('[1e400]'), { roundNumbers: true })).to.throw('too large');
  });

  it('are checked in one pass over the body, however they are written', () => {
    for (const item of ['1', '-1.5e3', '12345678901234.5', '1e']) {
      const text = `[${Array(Math.floor(1_000_000 / (item.length + 1))).fill(item)}]`;
      const begun = process.cpuUsage();
      try {
        parseJson(bytes(text));
      } catch (error) {
        expect(item, String(error)).to.equal('1e');
      }
      // Processor time of this process, independent of a busy machine. A non-linear walk takes minutes.
      expect(process.cpuUsage(begun).user / 1_000).to.be.lessThan(5_000);
    }
  });
});
