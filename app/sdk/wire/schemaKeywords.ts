/**
 * The JSON Schema subset of a listing's input_schema and output_schema: what pydantic 2, zod 4 and OpenAI's function
 * schemas emit. It is defined only here. The relay checks by it, and /docs, the OpenAPI document and the command line
 * show it.
 */

/** Every keyword, grouped by subject. Keywords that are checked come first. */
export const SCHEMA_KEYWORDS = {
  'any value': ['type', 'enum', 'const'],
  combinations: ['anyOf', 'oneOf', 'allOf', 'not', '$ref', '$defs', 'definitions'],
  objects: [
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
  ],
  arrays: ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'],
  strings: ['minLength', 'maxLength', 'pattern', 'format'],
  numbers: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  annotations: [
    'title',
    'description',
    'default',
    'examples',
    'deprecated',
    'readOnly',
    'writeOnly',
    'discriminator',
    'contentEncoding',
    'contentMediaType',
    'contentSchema',
    '$schema',
    '$id',
    '$comment',
    'id',
  ],
} as const;
export type SchemaKeyword = (typeof SCHEMA_KEYWORDS)[keyof typeof SCHEMA_KEYWORDS][number];

/** Formats that are checked; all others are annotations. */
export const CHECKED_FORMATS = [
  'date',
  'time',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uuid',
] as const;

/** Bytes of one schema as JSON. */
export const MAX_SCHEMA_BYTES = 32 * 1024;
/** Nesting depth of schemas, following `$ref`. Hand-written ones have 3 to 8. */
export const MAX_SCHEMA_DEPTH = 32;
/**
 * Number of schemas in one document, as written. Bounds its compile time to half a second. 100 fields have about 200.
 */
export const MAX_SCHEMAS = 1_000;
/** The same with each `$ref` counted as its target: unions of unions would otherwise grow without bound. */
export const MAX_SCHEMAS_FOLLOWED = 10_000;
/** Schemas in one `anyOf`, `oneOf`, `allOf` or `prefixItems`. */
export const MAX_FORMS = 200;

/** The list and its limits: an introduction, then one list item per line; keywords are in backticks. */
export function describeSchemaRules(): string[] {
  const list = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ');
  const groups = Object.entries(SCHEMA_KEYWORDS).map(([group, keywords]) => `${group}: ${list(keywords)}`);
  return [
    'Schemas are JSON Schema as pydantic 2, zod 4 and OpenAI function schemas emit it. Keywords and rules:',
    ...groups.map((group) => `- ${group}`),
    '- Annotations, and names that begin with `x-`, are kept and not checked.',
    '- Any other keyword is refused.',
    `- Formats that are checked: ${list(CHECKED_FORMATS)}. Any other \`format\` is an annotation.`,
    '- `$ref` names a schema of the same document, such as `#/$defs/Name`, and must not form a cycle.',
    '- `pattern` has the syntax of RE2. Lookahead and lookbehind are allowed, but not together. Backreferences are not.',
    `- A schema has at most ${MAX_SCHEMA_BYTES} bytes, ${MAX_SCHEMAS} schemas within it, and ${MAX_FORMS} in one union.`,
    `- If each \`$ref\` counts as the schema that it names: at most ${MAX_SCHEMAS_FOLLOWED} schemas and ${MAX_SCHEMA_DEPTH} levels.`,
    '- `input_schema` describes an object and is enforced before any money moves.',
    '- `output_schema` describes the result and is not enforced.',
  ];
}
