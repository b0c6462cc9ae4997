/** Creators' patterns never run in the page, which they could block for minutes. The service checks them. */
import { expect } from 'chai';
import { findFlaws } from '../../app/dashboard/parts/form/validator.ts';

const word = { type: 'string', pattern: '^(a+)+$', maxLength: 3 };
const messagesFor = (schema: object, value: unknown) => findFlaws(schema, value).map(({ path }) => path.join('.'));

describe('patterns of parameters in the page', () => {
  it('are left to the service wherever they occur; all other rules are checked', () => {
    const schema = {
      type: 'object',
      properties: { pattern: word, const: word, list: { type: 'array', items: { $ref: '#/$defs/word' } } },
      $defs: { word },
      additionalProperties: false,
    };
    expect(messagesFor(schema, { pattern: 'b', const: 'b', list: ['b'] })).to.deep.equal([]);
    expect(messagesFor(schema, { pattern: 'aaaa' })).to.deep.equal(['pattern']);
    expect(messagesFor(schema, { const: 'aaaa' })).to.deep.equal(['const']);
    expect(messagesFor(schema, { list: ['b', 'aaaa'] })).to.deep.equal(['list.1']);
    expect(schema.properties.pattern.pattern, 'the schema itself is not changed').to.equal(word.pattern);
  });

  it('leave the whole check to the service if the other rules would refuse an allowed value', () => {
    const property = (rule: object) => ({ type: 'object', properties: { word: rule } });
    expect(messagesFor(property({ not: { pattern: '^b' } }), { word: 'a' })).to.deep.equal([]);
    expect(messagesFor(property({ oneOf: [{ pattern: '^a' }, { pattern: '^b' }] }), { word: 'a' })).to.deep.equal([]);
    const named = { type: 'object', patternProperties: { '^x-': {} }, additionalProperties: false };
    expect(messagesFor(named, { 'x-a': 1 })).to.deep.equal([]);
  });
});
