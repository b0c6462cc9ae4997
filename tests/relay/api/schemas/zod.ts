/**
 * Types of zod, and the schemas that the installed version emits for them. emitted/zod-4.4.json has those of an older
 * version that differ: it was written with `npm install --no-save zod@4.4.3`.
 *
 * zod itself takes each good value of a type, and refuses each bad one.
 */
import { z } from 'zod';

/** A type with the schemas that a library emitted for an object with it as `a`, and with values of `a`. */
export interface EmittedType {
  name: string;
  good: unknown[];
  bad: unknown[];
  input: Record<string, unknown>;
  /** If they differ from the schema of the input: that of the output, and that in draft 7. */
  output?: Record<string, unknown>;
  draft7?: Record<string, unknown>;
}

const point = z.strictObject({ lat: z.number().min(-90).max(90), lon: z.number() });
const cat = z.object({ kind: z.literal('cat'), lives: z.int().min(0).max(9).default(9) });
const dog = z.object({ kind: z.literal('dog'), tricks: z.array(z.string()).optional() });
const UUID = '9b2f5c9e-6d0a-4c55-9a41-0f6e7f6a2a11';
const JWT =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';

const TYPES: [name: string, type: z.ZodType | undefined, good: unknown[], bad: unknown[]][] = [
  ['text', z.string(), ['', 'ä'], [1]],
  ['text with lengths', z.string().min(2).max(3), ['ab'], ['a', 'abcd']],
  [
    'text with a start, an end and a middle',
    z.string().startsWith('a.').endsWith('c$').includes('+'),
    ['a.+c$'],
    ['a+c$', 'a.c$'],
  ],
  ['text with a pattern', z.string().regex(/^[a-z0-9_-]+$/), ['a_b-1'], ['A']],
  ['text with several patterns', z.string().regex(/\d/).regex(/[A-Z]/), ['A1'], ['A', '1']],
  [
    'a password by lookahead',
    z.string().regex(/^(?=.*[A-Z])(?=.*\d)(?!.*\s).{8,}$/),
    ['Passw0rds'],
    ['password1', 'Pass w0rd', 'Pw0'],
  ],
  ['text without a word, by lookahead', z.string().regex(/^((?!secret).)*$/), ['open'], ['a secret']],
  ['text by lookbehind', z.string().regex(/(?<!-)\.pdf$/), ['a.pdf'], ['a-.pdf']],
  ['lower case', z.string().lowercase(), ['a1'], ['A']],
  ['email', z.email(), ['ann.b+c@example.com'], ['ann', 'a..b@example.com', '.a@example.com']],
  ['email of the html5 rule', z.email({ pattern: z.regexes.html5Email }), ['ann@example.com'], ['ann']],
  ['email of RFC 5322', z.email({ pattern: z.regexes.rfc5322Email }), ['ann@example.com'], ['ann']],
  ['email with unicode', z.email({ pattern: z.regexes.unicodeEmail }), ['ann@example.com'], ['ann']],
  ['url', z.url(), ['https://example.com/a?b=c'], ['example']],
  ['web address', z.url({ protocol: /^https?$/, hostname: z.regexes.domain }), ['https://example.com/'], ['example']],
  ['host', z.hostname(), ['example.com'], ['-']],
  ['uuid', z.uuid(), [UUID], ['x']],
  ['uuid 4', z.uuidv4(), [UUID], ['x', '9b2f5c9e-6d0a-1c55-9a41-0f6e7f6a2a11']],
  ['nanoid', z.nanoid(), ['V1StGXR8_Z5jdHi6B-myT'], ['x']],
  ['cuid2', z.cuid2(), ['tz4a98xxat96iws9zmbrgj3a'], ['X']],
  ['emoji', z.emoji(), ['😀'], ['a']],
  ['ipv4', z.ipv4(), ['127.0.0.1'], ['127.0.0']],
  ['ipv6', z.ipv6(), ['::1'], ['x']],
  ['block of ipv4', z.cidrv4(), ['10.0.0.0/8'], ['10.0.0.0']],
  ['block of ipv6', z.cidrv6(), ['2001::/32'], ['x']],
  ['base64', z.base64(), ['YQ=='], ['*']],
  ['base64url', z.base64url(), ['YQ'], ['*']],
  ['phone number', z.e164(), ['+4930123456'], ['030']],
  ['jwt', z.jwt(), [JWT], []],
  ['date', z.iso.date(), ['2026-02-28'], ['2026-02-30', 'x']],
  ['time', z.iso.time(), [], ['x']],
  ['date and time', z.iso.datetime(), ['2026-01-01T00:00:00Z', '2024-02-29T23:59:59.123Z'], ['2026-01-01', 'x']],
  ['date and time with an offset', z.iso.datetime({ offset: true }), ['2026-01-01T00:00:00+02:00'], ['x']],
  [
    'date and time with milliseconds',
    z.iso.datetime({ precision: 3 }),
    ['2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00Z'],
  ],
  ['duration', z.iso.duration(), ['PT1S', 'P1DT2H'], ['x']],
  ['template', z.templateLiteral(['n-', z.int(), z.enum(['px', 'em'])]), ['n-12px'], ['n-px']],
  ['own format', z.stringFormat('code', /^[A-Z]{3}-\d{1,4}$/), ['ABC-1'], ['abc']],
  ['number', z.number(), [1.5], ['x']],
  ['number with bounds', z.number().gt(0).lte(10), [0.5, 10], [0, 11]],
  ['multiple', z.number().multipleOf(0.01), [1070468.14, 0.07], [0.005]],
  ['integer', z.int(), [1], [1.5]],
  ['truth', z.boolean(), [true], ['true']],
  ['null', z.null(), [null], [1]],
  ['anything', z.unknown(), [1, null, []], []],
  ['enum', z.enum(['red', 'green']), ['red'], ['blue']],
  ['literals of several kinds', z.literal(['a', 1, true, null]), ['a', 1, true, null], ['b']],
  ['nullish', z.uuid().nullish(), [UUID, null], ['x']],
  ['default', z.int().min(1).default(5), [1], [0]],
  ['value of a failed check', z.string().catch('a').readonly(), ['b'], []],
  ['union', z.union([z.int(), point, z.null()]), [1, null, { lat: 1, lon: 2 }], ['x', { lat: 1 }]],
  ['union by a tag', z.discriminatedUnion('kind', [cat, dog]), [{ kind: 'cat' }], [{ kind: 'fish' }]],
  ['exactly one of', z.xor?.([z.object({ a: z.int() }), z.object({ b: z.int() })]), [{ a: 1 }], [{}]],
  ['intersection', z.intersection(z.object({ a: z.int() }), z.object({ b: z.int() })), [{ a: 1, b: 2 }], [{ a: 1 }]],
  ['list', z.array(z.int()).min(1).max(2), [[1]], [[], [1, 2, 3], ['x']]],
  ['tuple', z.tuple([z.string(), z.int()]), [['a', 1]], [[1], ['a', 'b']]],
  ['tuple with a rest', z.tuple([z.string()]).rest(z.int()), [['a'], ['a', 1, 2]], [['a', 'b']]],
  ['record', z.record(z.string(), z.number()), [{ a: 0.5 }], [{ a: 'x' }]],
  [
    'record with a pattern of names',
    z.record(z.string().regex(/^k\d+$/), z.int()),
    [{ k1: 1 }],
    [{ x: 1 }, { k1: 'x' }],
  ],
  ['record with enum names', z.record(z.enum(['a', 'b']), z.int()), [{ a: 1, b: 2 }], [{ a: 1 }, { a: 1, b: 'x' }]],
  ['partial record', z.partialRecord(z.enum(['a', 'b']), z.int()), [{ a: 1 }], [{ c: 1 }]],
  [
    'object',
    point,
    [{ lat: 1, lon: 2 }],
    [
      { lat: 91, lon: 2 },
      { lat: 1, lon: 2, x: 1 },
    ],
  ],
  ['loose object', z.looseObject({ a: z.int() }), [{ a: 1, b: 2 }], [{ b: 2 }]],
  ['object with others of a kind', z.object({ a: z.int() }).catchall(z.string()), [{ a: 1, b: 'x' }], [{ a: 1, b: 1 }]],
  [
    'nested objects',
    z.object({ lead: point, pets: z.record(z.string(), z.array(z.union([cat, dog]))) }),
    [{ lead: { lat: 1, lon: 2 }, pets: { a: [{ kind: 'dog' }] } }],
    [
      { lead: {}, pets: {} },
      { lead: { lat: 1, lon: 2 }, pets: { a: [1] } },
    ],
  ],
  ['object with a name', z.object({ x: z.int() }).meta({ id: 'Shared', title: 'T' }), [{ x: 1 }], [{}]],
  [
    'described text',
    z
      .string()
      .describe('D')
      .meta({ examples: ['a'], deprecated: true }),
    ['a'],
    [1],
  ],
  ['preprocessed value', z.preprocess((value) => value, z.int()), [1], []],
];

function emit(name: string, type: z.ZodType, good: unknown[], bad: unknown[]): EmittedType {
  const shape = z.object({ a: type });
  for (const value of good) shape.parse({ a: value });
  for (const value of bad)
    if (shape.safeParse({ a: value }).success) throw new Error(`${name} takes ${JSON.stringify(value)}`);
  const emitted = (target: 'draft-2020-12' | 'draft-7') => {
    const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: 'input', target });
    return schema;
  };
  const [input, draft7] = [emitted('draft-2020-12'), emitted('draft-7')];
  const isSame = JSON.stringify(draft7) === JSON.stringify(input);
  return { name, good, bad, input, ...(isSame ? {} : { draft7 }) };
}

export const emitTypes = (): EmittedType[] =>
  TYPES.flatMap(([name, type, good, bad]) => (type ? [emit(name, type, good, bad)] : []));
