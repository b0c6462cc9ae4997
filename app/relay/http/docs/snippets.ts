/** The request of each route as code in three languages, made from the OpenAPI document. Each is ready to paste. */
import { ROUTES } from '../../../sdk/client/generated.ts';
import type { Operation } from '../openapi/document.ts';
import { AGENT_ID } from '../routes/samples.ts';

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The environment variable from which the examples read the key. */
export const KEY_VARIABLE = 'MARKETPLACE_API_KEY';
/** Timeout of paid calls: the longest default timeout of an agent, and the settling. */
const PAID_CALL_SECONDS = 90;

/** Works in each POSIX shell: not every system has `uuidgen`. */
const NEW_KEY = `# For a new call, run all of this. To repeat it after a lost answer, run only curl:
# with the same IDEMPOTENCY_KEY it never pays twice.
IDEMPOTENCY_KEY=$(od -An -N16 -tx1 /dev/urandom | tr -dc 0-9a-f)`;
/** The agent of the document's examples is not in this marketplace. */
const REPLACE = ["Replace AGENT_ID: it is at the top of the agent's page."];
const REPLACE_ALL = ['Replace AGENT_ID, task and parameters:', "the tab Code of an agent's page has all three."];
const COMMENTS: Record<Language, string> = { curl: '#', TypeScript: '//', Python: '#' };

type Sample = ReturnType<typeof sampleOf>;

/** The request of a route in each language. */
export function snippetsOf(baseUrl: string, path: string, method: string, operation: Operation): [Language, string][] {
  const sample = sampleOf(baseUrl, path, method, operation);
  const codes: [Language, string][] = [
    ['curl', curl(sample)],
    ['TypeScript', sample.id in ROUTES ? clientCall(sample) : procedureCall(sample)],
    ['Python', python(sample)],
  ];
  return codes.map(([language, code]) => [
    language,
    code.includes(AGENT_ID)
      ? [
          ...(sample.isPaidCall ? REPLACE_ALL : REPLACE).map((line) => `${COMMENTS[language]} ${line}`),
          code.replaceAll(AGENT_ID, 'AGENT_ID'),
        ].join('\n')
      : code,
  ]);
}

/** One request with the examples of the document filled in; `body` is undefined if it has none. */
function sampleOf(baseUrl: string, path: string, method: string, operation: Operation) {
  const { operationId, parameters, requestBody, responses, security } = operation;
  const examplesIn = (place: string): [string, unknown][] =>
    parameters.flatMap((one) => (one.in === place && one.example !== undefined ? [[one.name, one.example]] : []));
  const inPath: Record<string, unknown> = Object.fromEntries(examplesIn('path'));
  return {
    id: operationId,
    method: method.toUpperCase(),
    baseUrl,
    path: path.replace(/\{(\w+)\}/g, (_, name: string) => String(inPath[name])),
    inPath,
    query: Object.fromEntries(examplesIn('query')),
    body: requestBody?.content['application/json']?.examples.request?.value,
    needsKey: security.length > 0,
    takesIdempotencyKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
    answersJson: responses[200]?.content?.['application/json'] !== undefined,
    answersEvents: responses[200]?.content?.['text/event-stream'] !== undefined,
    isPaidCall: '408' in responses,
  };
}

function urlOf({ baseUrl, path, query }: Sample): string {
  const values = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  const text = new URLSearchParams(values).toString();
  return `${baseUrl}${path}${text && `?${text}`}`;
}

/** Quotes any text for a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(sample: Sample): string {
  const { method, needsKey, takesIdempotencyKey, answersEvents, body } = sample;
  const request = [
    `curl -s${answersEvents ? 'N' : ''} ${method === 'GET' || body !== undefined ? '' : `-X ${method} `}${quote(urlOf(sample))}`,
    ...(needsKey ? [`-H "Authorization: Bearer $${KEY_VARIABLE}"`] : []),
    ...(takesIdempotencyKey ? ['-H "Idempotency-Key: $IDEMPOTENCY_KEY"'] : []),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d @- <<'JSON'\n${JSON.stringify(body, null, 2)}\nJSON`]),
  ].join(' \\\n  ');
  return takesIdempotencyKey ? `${NEW_KEY}\n${request}` : request;
}

/** A value as TypeScript: JSON without quotes around names. */
const literal = (value: unknown): string => JSON.stringify(value, null, 2).replace(/^( *)"(\w+)":/gm, '$1$2:');

/** A request of the client, which repeats paid calls safely by itself. */
function clientCall({ id, baseUrl, inPath, query, body, needsKey, answersEvents }: Sample): string {
  const key = needsKey ? `, apiKey: process.env.${KEY_VARIABLE}` : '';
  const begin = `import { AgentMarketplace } from '@agent-marketplace/client';

const client = new AgentMarketplace({ baseUrl: ${literal(baseUrl)}${key} });
`;
  if (answersEvents) {
    const [execution] = Object.values(inPath);
    const stream = execution ? `client.executions.events(${literal(execution)})` : 'client.events()';
    return `${begin}for await (const event of ${stream}) console.log(event);`;
  }
  const input = { ...inPath, ...query, ...(body !== undefined && { body }) };
  const given = Object.keys(input).length > 0 ? `, ${literal(input)}` : '';
  return `${begin}console.log(await client.request('${id}'${given}));`;
}

/** A query of /trpc, which the client does not have. */
const procedureCall = (sample: Sample): string => `const response = await fetch(${literal(urlOf(sample))});
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());`;

const PRINT_LINES = `for line in response.iter_lines(decode_unicode=True):
    print(line)`;

const WORDS: Record<string, string> = { true: 'True', false: 'False', null: 'None' };

/** A value as Python: JSON except for three words, which stay unchanged inside strings. */
const pythonLiteral = (value: unknown): string =>
  JSON.stringify(value, null, 4)
    .replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (part) => WORDS[part] ?? part)
    .replaceAll('\n', '\n    ');

function python(sample: Sample): string {
  const { method, baseUrl, path, query, body, needsKey, takesIdempotencyKey, answersJson, answersEvents, isPaidCall } =
    sample;
  const headers = [
    ...(needsKey ? [`"Authorization": f"Bearer {os.environ['${KEY_VARIABLE}']}"`] : []),
    ...(takesIdempotencyKey ? ['"Idempotency-Key": key'] : []),
  ];
  const values = [
    JSON.stringify(`${baseUrl}${path}`),
    ...(headers.length > 0 ? [`headers={${headers.join(', ')}}`] : []),
    ...(Object.keys(query).length > 0 ? [`params=${pythonLiteral(query)}`] : []),
    ...(body === undefined ? [] : [`json=${pythonLiteral(body)}`]),
    ...(isPaidCall ? [`timeout=${PAID_CALL_SECONDS}`] : []),
    ...(answersEvents ? ['stream=True'] : []),
  ];
  const imports = [...(needsKey ? ['import os'] : []), ...(takesIdempotencyKey ? ['import uuid'] : [])];
  const key = takesIdempotencyKey
    ? '# Each run is a new call. To repeat one, send its key again: that never pays twice.\nkey = str(uuid.uuid4())\n'
    : '';
  return `${[...imports, ...(imports.length > 0 ? [''] : []), 'import requests', ''].join('\n')}
${key}response = requests.${method.toLowerCase()}(
    ${values.join(',\n    ')},
)
if not response.ok:
    raise SystemExit(response.text)
${answersEvents ? PRINT_LINES : `print(${answersJson ? 'response.json()' : 'response.text'})`}`;
}
