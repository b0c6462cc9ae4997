/** The answers that the Python client reads, as classes of pydantic, from the OpenAPI document. */
import { createDocument } from '../app/relay/http/openapi/document.ts';

interface Shape {
  $ref?: string;
  type?: string | string[];
  enum?: string[];
  const?: string;
  format?: string;
  pattern?: string;
  minimum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Shape;
  properties?: Record<string, Shape>;
  required?: string[];
  anyOf?: Shape[];
  oneOf?: Shape[];
  description?: string;
}

interface Source {
  schema: string;
  /** The class that has the first fields. */
  base?: string;
  about?: string;
}

/** Classes by name, each after those that it uses. */
const CLASSES: Record<string, Source> = {
  AgentHealth: { schema: 'AgentHealth' },
  AgentSummary: { schema: 'AgentSummary' },
  Agent: { schema: 'AgentFull', base: 'AgentSummary' },
  AgentPage: { schema: 'AgentPage' },
  AgentFigures: { schema: 'AgentFigures' },
  AgentDay: { schema: 'AgentDay', base: 'AgentFigures' },
  AgentStatistics: { schema: 'AgentStatistics' },
  CompletedExecution: {
    schema: 'ExecuteCompleted',
    about: 'A paid call that was answered. `result` is the exact text that the creator signed.',
  },
  StartedExecution: {
    schema: 'ExecuteAccepted',
    about: 'A paid call in progress. Pass `execution_id` to `executions.wait`.',
  },
  Archive: { schema: 'ExecutionArchive', about: 'The proof of an archived execution.' },
  UnclaimedRefund: { schema: 'UnclaimedRefund' },
  ExecutionSummary: { schema: 'ExecutionSummary' },
  Execution: { schema: 'ExecutionFull', base: 'ExecutionSummary' },
  ExecutionPage: { schema: 'ExecutionPage' },
  DeletedContent: { schema: 'ContentDeleted' },
  StatementFigures: { schema: 'StatementTotal' },
  StatementDay: { schema: 'StatementDay', base: 'StatementFigures' },
  DailyStatement: { schema: 'DailyStatement' },
  SpendRow: { schema: 'SpendRow' },
  SpendStatement: { schema: 'SpendStatement' },
  WebhookEndpoint: { schema: 'WebhookEndpoint' },
  WebhookEndpoints: { schema: 'WebhookEndpoints' },
  WebhookSecret: { schema: 'WebhookSecret' },
  WebhookId: { schema: 'WebhookId' },
  WebhookDelivery: { schema: 'WebhookDelivery' },
  WebhookDeliveryPage: { schema: 'WebhookDeliveries' },
  RequestIssue: { schema: 'RequestIssue' },
};
/** The `details` of errors; an error with two forms has two classes. */
const DETAILS: [code: string, ...names: string[]][] = [
  ['invalid_request', 'InvalidRequestDetails'],
  ['insufficient_balance', 'PriceLimitDetails', 'GasLimitDetails'],
  ['payment_required', 'PaymentDetails'],
  ['insufficient_scope', 'ScopeDetails'],
  ['address_not_allowed', 'AddressDetails'],
  ['agent_not_allowed', 'AgentDetails'],
  ['price_changed', 'PriceChangedDetails'],
  ['not_settled', 'NotSettledDetails'],
  ['content_needed', 'ContentNeededDetails'],
  ['payload_too_large', 'PayloadDetails'],
  ['method_not_allowed', 'MethodDetails'],
];
/** Names of objects within others. */
const NESTED: Record<string, string> = {
  'AgentSummary.creator': 'Creator',
  'AgentStatistics.refunds': 'AgentRefunds',
  'ExecutionSummary.error': 'ExecutionError',
  'ExecutionSummary.dispute': 'ExecutionDispute',
};
/** Enumerations that may grow, so that an older client takes new values as text. */
const OPEN = ['code', 'reason', 'refund', 'event_type', 'event_types', 'needs', 'has'];
/** The client makes this class from an execution too, which may lack them. */
const NULLABLE = ['CompletedExecution.execution_time_ms', 'CompletedExecution.ipfs_url'];
const SECRET = 'WebhookSecret.secret';
/** Words of Python. */
const WORDS = ['from', 'in'];
/** Of a line, with the indentation. */
const MOST_CHARACTERS = 120;
const INDENT = 4;

/** More lines of a class. */
const MORE: Record<string, string> = {
  ExecutionSummary: `
    @property
    def is_ended(self) -> bool:
        """True once its outcome is known. A disputed execution was completed and paid before."""
        return self.status not in ("pending", "running")
`,
};

const NULL = { type: 'null' };
/** A field's docstring, in lines that fit. */
function docOf(about: string): string {
  const whole = `"""${about}"""`;
  if (whole.length + INDENT <= MOST_CHARACTERS) return whole;
  const lines = [''];
  for (const word of `"""${about}`.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trimStart();
    if (line.length + INDENT <= MOST_CHARACTERS) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return [...lines, '"""'].join(`\n${' '.repeat(INDENT)}`);
}

const isNull = ({ type }: Shape) => type === 'null';

/** The content of models.py. */
export function generatePythonModels(): string {
  const { schemas } = createDocument({ baseUrl: 'http://x', environment: 'test', operatorContact: null }).components;
  const shapes = schemas as Record<string, Shape>;
  const written: string[] = [];

  function fieldsOf(name: string): Record<string, Shape> {
    return shapes[CLASSES[name]?.schema ?? '']?.properties ?? {};
  }

  function write(name: string, { properties = {}, required = [] }: Shape, base = 'Model'): string {
    const inherited = fieldsOf(base);
    const lines = Object.entries(properties)
      .filter(([field]) => !(field in inherited))
      .flatMap(([field, shape]) => lineOf(name, field, shape, required.includes(field)));
    const { about } = CLASSES[name] ?? {};
    const all = [...(about ? [`"""${about}"""\n`] : []), ...lines];
    written.push(`class ${name}(${base}):\n${all.map((line) => `    ${line}\n`).join('')}${MORE[name] ?? ''}`);
    return name;
  }

  function lineOf(name: string, field: string, shape: Shape, isRequired: boolean): string[] {
    const place = `${name}.${field}`;
    const mayMiss = !isRequired || NULLABLE.includes(place);
    const type = typeOf(place, mayMiss && !shape.anyOf?.some(isNull) ? { anyOf: [shape, NULL] } : shape);
    const isWord = WORDS.includes(field);
    const option = isWord ? `alias="${field}"` : place === SECRET ? 'repr=False' : null;
    const value = option ? ` = Field(${option})` : isRequired ? '' : ' = None';
    const about = shape.description?.replace(/\bnull\b/g, 'None').replaceAll('’', "'");
    const doc = about && !/["\\\n]/.test(about) ? [docOf(about)] : [];
    return [`${field}${isWord ? '_' : ''}: ${type}${value}`, ...doc];
  }

  function typeOf(place: string, shape: Shape): string {
    const field = place.slice(place.indexOf('.') + 1);
    const { $ref, type, items, anyOf } = shape;
    if ($ref) {
      const name = Object.keys(CLASSES).find((one) => CLASSES[one]!.schema === $ref.split('/').at(-1));
      if (name === undefined) throw new Error(`${place} needs a class for ${$ref}`);
      return name;
    }
    if (anyOf?.some(isNull)) return `${typeOf(place, anyOf.find((one) => !isNull(one))!)} | None`;
    if (Array.isArray(type)) return `${typeOf(place, { ...shape, type: type.find((one) => one !== 'null')! })} | None`;
    const values = shape.const === undefined ? shape.enum : [shape.const];
    if (values && !OPEN.includes(field)) return `Literal[${values.map((one) => JSON.stringify(one)).join(', ')}]`;
    if (type === 'boolean') return 'bool';
    if (type === 'integer') return 'Count';
    if (type === 'number') return field.endsWith('_usdc') ? 'Usdc' : 'float';
    if (type === 'array') {
      if (!items?.type && !items?.$ref) return 'JsonList';
      const list = `list[${typeOf(place, items)}]`;
      const { minItems, maxItems } = shape;
      return minItems === undefined
        ? list
        : `Annotated[${list}, Field(min_length=${minItems}, max_length=${maxItems})]`;
    }
    if (type === 'object') return shape.properties ? write(NESTED[place]!, shape) : 'JsonObject';
    if (shape.format === 'date-time') return 'datetime';
    if (shape.format === 'date') return 'date';
    return shape.pattern ? `Annotated[str, Field(pattern=r"${shape.pattern}")]` : 'str';
  }

  for (const [name, { schema, base }] of Object.entries(CLASSES)) write(name, shapes[schema]!, base);
  for (const [code, ...names] of DETAILS) {
    const { details } = shapes[`error_${code}`]!.properties!.error!.properties!;
    const [form = details!] = (details!.anyOf ?? []).filter((one) => !isNull(one));
    for (const [at, one] of (form.oneOf ?? form.anyOf ?? [form]).entries()) write(names[at]!, one);
  }
  const map = DETAILS.map(
    ([code, ...names]) => `    "${code}": (${names.join(', ')}${names.length > 1 ? '' : ','}),\n`,
  );
  return `"""The API's answers. Generated by \`npm run build:client\` from the OpenAPI document.

Fields that a newer marketplace adds are ignored; amounts are \`Decimal\` USDC, times are UTC.
"""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from ._model import Count, JsonList, JsonObject, Model, Usdc


${written.join('\n\n')}

DETAILS: dict[str, tuple[type[Model], ...]] = {
${map.join('')}}
"""The classes of an error's \`details\`, by its code."""
`;
}
