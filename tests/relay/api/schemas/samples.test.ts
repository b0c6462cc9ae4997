/** Parameters made from a schema, for its example and its test. */
import { expect } from 'chai';
import { createParameterCheck } from '../../../../app/relay/agents/parameters.ts';
import { sampleParameters } from '../../../../app/relay/agents/schemas/sample.ts';
import { type Json, MODELS, ofA } from './accept.ts';

describe('samples of schemas', () => {
  const sample = (schema: Json) => sampleParameters(schema, createParameterCheck(schema));

  it('of lists within lists and of long texts end before they are large', async () => {
    const list = (items: Json): Json => ({ type: 'array', minItems: 100, items });
    const far = (schema: Json): Json => ({ type: 'object', required: ['x', 'y'], additionalProperties: schema });
    const text = { type: 'string', minLength: 10_000 };
    const grow = (by: (schema: Json) => Json) => Array.from({ length: 20 }).reduce<Json>((inner) => by(inner), text);
    for (const x of [grow(list), grow(far), list(text)]) {
      const schema = { type: 'object', properties: { x }, required: ['x'] };
      expect(await sample(schema)).to.deep.equal({ parameters: {}, fits: false });
      const example = { x: 1 };
      const accepts = { ...schema, examples: [example] };
      expect((await sampleParameters(accepts, async () => [])).parameters).to.deep.equal(example);
    }
  });

  it('have what is required only, as short as the bounds allow', async () => {
    expect(await sample(ofA({ type: 'number' }))).to.deep.equal({ parameters: {}, fits: true });
    const shortest: [rules: Json, a: unknown][] = [
      [{ type: 'string', minLength: 3 }, 'xxx'],
      [{ type: 'string', enum: ['fast', 'slow'] }, 'fast'],
      [{ type: 'string', default: 'slow' }, 'slow'],
      [{ type: 'number' }, 0],
      [{ type: 'string', format: 'uri' }, 'https://example.com/'],
      [{ type: 'array', minItems: 2, items: { type: 'boolean' } }, [false, false]],
      [{ type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }, { x: 0 }],
      [{ type: ['null', 'string'] }, null],
    ];
    for (const [rules, a] of shortest) {
      expect(await sample(ofA(rules, { required: ['a'] }))).to.deep.equal({ parameters: { a }, fits: true });
    }
  });

  it('follow references, unions, constants and allOf', async () => {
    expect(await sample(MODELS.input)).to.deep.include({ fits: true });
    expect(await sample(MODELS.openai.tool.function.parameters)).to.deep.include({ fits: true });
    const schema = {
      allOf: [
        { $ref: '#/$defs/Base' },
        { properties: { n: { exclusiveMinimum: 3, multipleOf: 5, type: 'integer' } }, required: ['n'] },
      ],
      $defs: {
        Base: {
          type: 'object',
          properties: { kind: { const: 'k' }, when: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] } },
          required: ['kind', 'when'],
        },
      },
    };
    expect(await sample(schema)).to.deep.equal({ parameters: { kind: 'k', when: '2026-01-01', n: 5 }, fits: true });
  });

  it('use own properties and formats only', async () => {
    const schema = { ...ofA({ type: 'string', format: 'constructor' }), required: ['a', 'valueOf'] };
    expect(await sample({ ...schema, additionalProperties: { type: 'integer' } })).to.deep.equal({
      parameters: { a: 'x', valueOf: 0 },
      fits: true,
    });
  });

  it('are multiples in decimals, within their bounds', async () => {
    const BOUNDS: [rules: Json, a: number][] = [
      [{ multipleOf: 0.1, minimum: 0.25 }, 0.3],
      [{ multipleOf: 0.1, exclusiveMinimum: 0.2 }, 0.3],
      [{ multipleOf: 0.01, exclusiveMinimum: 0, maximum: 0.5 }, 0.01],
      [{ multipleOf: 0.01, maximum: -0.07 }, -0.07],
      [{ multipleOf: 0.01, exclusiveMaximum: 0, minimum: -1 }, -0.01],
      [{ multipleOf: 0.3, minimum: -1, maximum: 1 }, 0],
      [{ exclusiveMinimum: 2 }, 3],
      [{ minimum: 2.5 }, 3],
      [{ exclusiveMaximum: -2 }, -3],
      [{ exclusiveMinimum: -1 }, 0],
    ];
    for (const [rules, a] of BOUNDS) {
      const schema = { ...ofA({ type: 'number', ...rules }), required: ['a'] };
      expect(await sample(schema), JSON.stringify(rules)).to.deep.equal({ parameters: { a }, fits: true });
    }
  });

  it("report when they do not fit, and use the schema's own example", async () => {
    const schema = ofA({ type: 'string', pattern: '^[A-Z]{3}$' }, { required: ['a'] });
    expect(await sample(schema)).to.deep.equal({ parameters: { a: 'x' }, fits: false });
    const example = { a: 'ABC' };
    expect(await sample({ ...schema, examples: [example] })).to.deep.equal({ parameters: example, fits: true });
  });
});
