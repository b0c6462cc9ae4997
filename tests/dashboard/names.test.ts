/** Parameters whose names every object inherits, such as "constructor", in the page. */
import { expect } from 'chai';
import { isFormable, resolve } from '../../app/dashboard/parts/form/schema.ts';
import { findFlaws } from '../../app/dashboard/parts/form/validator.ts';
import { exampleParameters } from '../../app/dashboard/views/agent/schema/example.ts';
import { fieldsOf } from '../../app/dashboard/views/agent/schema/rows.ts';

const text = { type: 'string' };
const named = { type: 'object', properties: { constructor: text, toString: text }, required: ['constructor'] };

describe('parameters with inherited names in the page', () => {
  it('are missing until they are given', () => {
    expect(findFlaws(named, {})).to.deep.equal([{ path: ['constructor'], message: 'This is needed.' }]);
    expect(findFlaws(named, { constructor: 'x' })).to.deep.equal([]);
  });

  it('are shown and filled in like any others, as JSON instead of a form', () => {
    expect(isFormable(named)).to.equal(false);
    expect(isFormable({ type: 'object', properties: { constructors: text } })).to.equal(true);
    expect(exampleParameters(named)).to.deep.equal({ constructor: 'example' });
    expect(fieldsOf(named).fields.map(({ path, type }) => `${path} ${type}`)).to.deep.equal([
      'constructor text',
      'toString text',
    ]);
  });

  it('are not found by a reference, a format or a type that names none', () => {
    expect(resolve({ $ref: '#/$defs/constructor' }, { $defs: {} })).to.deep.equal({});
    expect(resolve({ $ref: '#/%zz' }, {})).to.deep.equal({});
    const odd = { type: 'object', properties: { a: { type: 'string', format: 'valueOf' } }, required: ['a'] };
    expect(exampleParameters(odd)).to.deep.equal({ a: 'example' });
    const [row] = fieldsOf({ type: 'object', properties: { a: { type: 'toString' } } }).fields;
    expect(row?.type).to.equal('toString');
  });
});
