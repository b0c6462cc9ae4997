/** Reads settings from the environment with one zod object, whose descriptions document them. */
import { z } from 'zod';

type Shape = Record<string, z.ZodType>;

/** Throws one line for each variable that is missing or wrong. An empty one counts as unset. */
export function readSettings<S extends Shape>(
  settings: z.ZodObject<S>,
  environment: NodeJS.ProcessEnv,
): z.output<z.ZodObject<S>> {
  // Shells and CI files often leave a variable empty.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = settings.safeParse(given);
  if (parsed.success) return parsed.data;
  const issues = new Map(parsed.error.issues.map((issue) => [String(issue.path[0]), issue]));
  const lines = [...issues].map(([name, issue]) => {
    const { description } = settings.shape[name] as z.ZodType;
    return `${name} ${given[name] === undefined ? 'is required' : fault(issue)}: ${description}`;
  });
  throw new Error(lines.join('\n'));
}

/** The variables with their defaults and meanings, for `--help`. */
export function describeSettings(settings: z.ZodObject<Shape>): string {
  const width = Math.max(...Object.keys(settings.shape).map((name) => name.length));
  return Object.entries(settings.shape)
    .map(([name, schema]) => `  ${name.padEnd(width)}  ${schema.description} (${presence(schema)})`)
    .join('\n');
}

function presence(schema: z.ZodType): string {
  if (schema instanceof z.ZodDefault) {
    const { defaultValue } = schema.def;
    return defaultValue === '' ? 'default: none' : `default: ${defaultValue}`;
  }
  return schema instanceof z.ZodOptional ? 'optional' : 'required';
}

/** The fault of a given value; never the value itself, which may be a secret. */
function fault(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'number' ? 'must be a number' : 'must be a whole number';
    case 'invalid_value':
      return `must be ${issue.values.join(' or ')}`;
    case 'invalid_format':
      return issue.format === 'url' ? 'must be a URL' : 'has the wrong format';
    case 'too_small':
      return issue.origin === 'string'
        ? `must have at least ${issue.minimum} characters`
        : `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'custom':
      return issue.message;
    default:
      return `is wrong (${issue.message})`;
  }
}
