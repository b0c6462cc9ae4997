/**
 * The smallest parameters that a creator's input schema may accept, for probes: required properties only, each as short
 * as its bounds allow. What cannot be met this way is left for the schema's check to say.
 */
type Schema = Record<string, unknown>;

const FORMATTED: Record<string, string> = {
  date: '2026-01-01',
  time: '00:00:00Z',
  'date-time': '2026-01-01T00:00:00Z',
  duration: 'PT1S',
  email: 'probe@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

export function sampleParameters(schema: Schema): Schema {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Schema>; required?: string[] };
  return Object.fromEntries(required.map((name) => [name, sample(properties[name] ?? {})]));
}

function sample(schema: Schema): unknown {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'object':
      return sampleParameters(schema);
    case 'array':
      return Array.from({ length: Number(schema.minItems ?? 0) }, () => sample((schema.items ?? {}) as Schema));
    case 'number':
    case 'integer':
      return sampleNumber(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return FORMATTED[String(schema.format)] ?? 'x'.repeat(Math.max(1, Number(schema.minLength ?? 1)));
  }
}

/** 0 where it is allowed, else the bound nearest to it. */
function sampleNumber(schema: Schema): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema as Record<string, number | undefined>;
  const least = Math.max(
    minimum ?? -Infinity,
    exclusiveMinimum === undefined ? -Infinity : Math.floor(exclusiveMinimum) + 1,
  );
  const most = Math.min(
    maximum ?? Infinity,
    exclusiveMaximum === undefined ? Infinity : Math.ceil(exclusiveMaximum) - 1,
  );
  if (least > 0) return Math.ceil(least);
  return most < 0 ? Math.floor(most) : 0;
}
