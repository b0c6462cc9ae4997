/** Bodies, schemas and answers that are as hard to read as their bounds allow. */

const MIB = 1024 * 1024;

const fill = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / piece.length));

/** An object's members, all of other names, in so many bytes. */
function names(bytes: number, value = '1'): string {
  const parts: string[] = [];
  for (let length = 0, i = 0; length < bytes; i += 1) {
    const part = `"k${i.toString(36)}":${value}`;
    length += part.length + 1;
    parts.push(part);
  }
  return parts.slice(0, -1).join(',');
}

/** JSON values of nearly so many bytes, by what is hard about them. */
export const HEAVY_VALUES: Record<string, (bytes: number) => string> = {
  'small numbers': (bytes) => `[0${fill(',0', bytes)}]`,
  'long numbers': (bytes) => `[0${fill(',1.2345678901234567e-300', bytes)}]`,
  'empty objects': (bytes) => `[{}${fill(',{}', bytes)}]`,
  'deep arrays': (bytes) => `[0${fill(`,${'['.repeat(58)}${']'.repeat(58)}`, bytes)}]`,
  'many names': (bytes) => `{${names(bytes)}}`,
  'short texts with escapes': (bytes) => `[""${fill(',"\\n"', bytes)}]`,
  'one text of escapes': (bytes) => `"${fill('\\u0001', bytes)}"`,
  'one text of three-byte characters': (bytes) => `"${fill('東', bytes / 3)}"`,
};

/** Bodies of 1 MiB for `execute` and `start`. */
export function heavyBodies(): [name: string, body: string][] {
  return [
    ...Object.entries(HEAVY_VALUES).map(([name, make]): [string, string] => [
      name,
      `{"task":"bench","parameters":{"value":${make(MIB - 200)}}}`,
    ]),
    ['nothing but quotes', '"'.repeat(MIB)],
    ['one number', `{"task":"bench","parameters":{"value":${'9'.repeat(MIB - 200)}}}`],
    ['one text as task', `{"task":"${'t'.repeat(MIB - 200)}"}`],
  ];
}

type Schema = Record<string, unknown>;

/** Schemas of nearly 32 KiB, by what is hard about them. */
export const HEAVY_SCHEMAS: Record<string, () => Schema> = {
  'many properties': () => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 700 }, (_, i) => [`p${i}`, { type: 'string', maxLength: 9 }] as const),
    ),
  }),
  'many forms': () => ({
    type: 'object',
    anyOf: Array.from({ length: 300 }, (_, i) => ({ required: [`p${i}`], properties: { [`p${i}`]: { minimum: i } } })),
  }),
  'many patterns': () => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`p${i}`, { type: 'string', pattern: `^(a|b${i}){1,9}[^x]+$` }] as const),
    ),
  }),
};

/** Takes long to check against a body of 1 MiB, and against a small one. */
export const SLOW_SCHEMA: Schema = {
  type: 'object',
  properties: {
    value: {},
    text: { allOf: Array.from({ length: 60 }, (_, i) => ({ pattern: `^(a|aa|[ab]{1,9})*c{${i}}$` })) },
  },
};
