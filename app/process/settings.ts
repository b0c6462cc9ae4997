/** Reads settings from the environment with one zod object, whose descriptions document them. */
import { distance } from 'fastest-levenshtein';
import { z } from 'zod';

type Shape = Record<string, z.ZodType>;

/**
 * Throws one line for each variable that is missing or wrong, or whose name is nearly that of a setting: a misspelt one
 * would leave its default in force. An empty one counts as unset.
 */
export function readSettings<S extends Shape>(
  settings: z.ZodObject<S>,
  environment: NodeJS.ProcessEnv,
): z.output<z.ZodObject<S>> {
  // Shells and CI files often leave a variable empty.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const misspelt = misspeltIn(given, Object.keys(settings.shape));
  const parsed = settings.safeParse(given);
  if (parsed.success && misspelt.length === 0) return parsed.data;
  const issues = new Map(parsed.error?.issues.map((issue) => [String(issue.path[0]), issue]));
  const lines = [...issues].map(([name, issue]) => {
    const { description } = settings.shape[name] as z.ZodType;
    return `${name} ${given[name] === undefined ? 'is required' : fault(issue)}: ${description}`;
  });
  throw new Error([...misspelt, ...lines].join('\n'));
}

/** Other variables of the environment are none of our business, so only names that are nearly ours count. */
function misspeltIn(given: Record<string, string | undefined>, names: string[]): string[] {
  return Object.keys(given)
    .filter((name) => !names.includes(name))
    .flatMap((name) => {
      const near = names.find((one) => isNearly(name.toUpperCase(), one));
      return near === undefined ? [] : `${name} is no setting; did you mean ${near}? Correct or remove it`;
    });
}

/** One wrong letter in a short name, two in a longer one, or its last words left out. */
function isNearly(name: string, setting: string): boolean {
  if (name.includes('_') && setting.startsWith(`${name}_`)) return true;
  // Two letters in the wrong order are two wrong ones.
  return distance(name, setting) <= (setting.length < 6 ? 1 : 2);
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
