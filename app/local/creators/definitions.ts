/**
 * The demo agents as their creators describe them: the local network's listings, and the behaviour of each server. Two
 * are useful. Each of the others shows one chosen behaviour, like test cards for payments.
 */

/** A server's behaviour. All but the two useful ones return the task until they are listed. */
export type Behaviour =
  | 'csv-analyst'
  | 'text-report'
  | 'echo'
  | 'slow'
  | 'fails'
  | 'error'
  | 'bad-signature'
  | 'wrong-hash'
  | 'wrong-id'
  | 'malformed'
  | 'huge'
  | 'offline'
  | 'paused';

export interface DemoAgent {
  name: string;
  /** One sentence. */
  tagline: string;
  description: string;
  /** Standard tags first, then custom ones. */
  tags: string[];
  /** Decimal USDC for one execution. */
  price: string;
  timeoutSeconds: number;
  minTimeoutSeconds: number;
  inputSchema: object;
  outputSchema: object;
  /** The demo wallet that lists it. */
  creator: 'a' | 'b';
  behaviour: Behaviour;
  /** A request that this agent completes before it is listed, for the test request of the listing flow. */
  example: { task: string; parameters: Record<string, unknown> };
}

const TIMES = { timeoutSeconds: 60, minTimeoutSeconds: 1 };
const TEXT = { type: 'string' };
const NUMBER = { type: 'number' };
const INTEGER = { type: 'integer' };

const UNREAD_TASK = 'The task is only a title for your call: the agent does not read it.';

const useful: DemoAgent[] = [
  {
    name: 'csv-analyst',
    tagline: 'Runs one SQL query on a CSV file.',
    description:
      'You send a table as CSV text and one SQL query. You get the rows back as a table. ' +
      'At most 1 MiB for the whole call, 100,000 records in and 10,000 rows out.\n\n' +
      `${UNREAD_TASK}\n\n` +
      '- `csv`: RFC 4180, lines may end in LF, CRLF or CR, the first record is the header, at most 500 columns. ' +
      'Fields are separated by commas, or by semicolons or tabs if the header has no comma. ' +
      'An empty header name becomes `column_N`, a repeated one gets `_2`, `_3`.\n' +
      '- The table is `csv`, in SQLite. The values of a column decide if it is INTEGER, REAL or TEXT; decimals that a ' +
      'double cannot hold exactly make it TEXT, which sorts as text. An empty field is NULL.\n' +
      '- `query`: one SELECT or WITH statement, at most 2 seconds.\n' +
      '- The result: `{"columns", "rows", "row_count"}` as JSON. Integers beyond 2^53 and infinities are returned as ' +
      'text, blobs as hex.',
    tags: ['data', 'sql'],
    price: '0.25',
    ...TIMES,
    inputSchema: {
      type: 'object',
      properties: {
        csv: {
          type: 'string',
          minLength: 1,
          description: 'The CSV text. The first record is the header. The whole call has at most 1 MiB.',
          examples: ['city,celsius\nOslo,5.7\nRome,15.2\n'],
        },
        query: {
          type: 'string',
          minLength: 1,
          maxLength: 10_000,
          description: 'One SQL query on the table csv, for example: SELECT city FROM csv',
          examples: ['SELECT city FROM csv ORDER BY celsius DESC LIMIT 1'],
        },
      },
      required: ['csv', 'query'],
    },
    outputSchema: {
      type: 'object',
      properties: {
        columns: { type: 'array', items: TEXT, description: 'The names of the columns.' },
        rows: { type: 'array', items: { type: 'array' }, description: 'The rows, each with a value for each column.' },
        row_count: { type: 'integer', description: 'The number of rows.' },
      },
      required: ['columns', 'rows', 'row_count'],
    },
    creator: 'a',
    behaviour: 'csv-analyst',
    example: {
      task: 'Warmest city',
      parameters: {
        csv: 'city,celsius\nOslo,5.7\nRome,15.2\n',
        query: 'SELECT city FROM csv ORDER BY celsius DESC LIMIT 1',
      },
    },
  },
  {
    name: 'text-report',
    tagline: 'Measures a text, picks its key sentences and outlines it.',
    description:
      'You send a text. You get a report on it: its length and reading time, its key sentences, and an outline. ' +
      'Nothing is generated: every quoted sentence is from the text.\n\n' +
      `${UNREAD_TASK}\n\n` +
      '- `text`: at most 200,000 characters, 5,000 lines and 1,000 sentences.\n' +
      '- Counts, sentence lengths and reading time.\n' +
      '- The `sentences` most central sentences (1 to 10, default 3) by LexRank, an extractive method.\n' +
      '- The outline: headings and paragraphs. The result is JSON.',
    tags: ['research', 'writing'],
    price: '0.1',
    ...TIMES,
    inputSchema: {
      type: 'object',
      properties: {
        text: {
          type: 'string',
          minLength: 1,
          maxLength: 200_000,
          description: 'Plain text or Markdown.',
          examples: ['Snow fell all night. In the morning it was deep. Nobody went to work, and the town was quiet.'],
        },
        sentences: { type: 'integer', minimum: 1, maximum: 10, description: 'Number of key sentences; default 3.' },
      },
      required: ['text'],
    },
    outputSchema: {
      type: 'object',
      properties: {
        statistics: {
          type: 'object',
          description: 'Counts of the text, and how long it takes to read.',
          properties: {
            characters: INTEGER,
            words: INTEGER,
            reading_seconds: INTEGER,
            unique_words: INTEGER,
            sentences: INTEGER,
            paragraphs: INTEGER,
            headings: INTEGER,
            average_sentence_words: NUMBER,
            longest_sentence_words: INTEGER,
          },
        },
        key_sentences: {
          type: 'object',
          description: 'The most central sentences, in the order of the text.',
          properties: { method: TEXT, sentences: { type: 'array', items: { type: 'object' } } },
        },
        outline: { type: 'array', items: { type: 'object' }, description: 'Headings and paragraphs.' },
      },
      required: ['statistics', 'key_sentences', 'outline'],
    },
    creator: 'b',
    behaviour: 'text-report',
    example: { task: 'Report on this text.', parameters: { text: 'Snow fell all night. In the morning it was deep.' } },
  },
];

/** One sandbox agent: accepts any parameters and, if it answers at all, returns text. */
function sandbox(
  behaviour: Behaviour,
  price: string,
  creator: 'a' | 'b',
  standardTag: string,
  tagline: string,
  description: string,
): DemoAgent {
  return {
    name: `sandbox-${behaviour}`,
    tagline,
    description: `For testing clients. ${description}`,
    tags: [standardTag, 'sandbox'],
    price,
    ...TIMES,
    inputSchema: { type: 'object', properties: {} },
    outputSchema: TEXT,
    creator,
    behaviour,
    example: { task: 'hello', parameters: {} },
  };
}

const sandboxes: DemoAgent[] = [
  sandbox('echo', '0.01', 'a', 'writing', 'Returns the task.', 'The result is the task, unchanged.'),
  {
    ...sandbox(
      'slow',
      '0.02',
      'b',
      'monitoring',
      'Returns the task after a chosen time.',
      'Waits `parameters.seconds` (0 to 60, default 0), then returns the task. With `stream`, its words are sent during the wait. It ignores the deadline, so ' +
        'more seconds than `timeout_seconds` cause 408 `execution_timeout` and a refund.',
    ),
    inputSchema: { type: 'object', properties: { seconds: { type: 'number', minimum: 0, maximum: 60 } } },
  },
  sandbox('fails', '0.03', 'a', 'code', 'Reports a failure.', 'Returns status `failed` with an error text.'),
  sandbox(
    'error',
    '0.04',
    'b',
    'code',
    'Answers HTTP 500.',
    'Answers every request with HTTP 500, which is not retried.',
  ),
  sandbox(
    'bad-signature',
    '0.05',
    'a',
    'security',
    'Returns a wrong signature.',
    'Returns a result with the right hash and a signature with one changed bit.',
  ),
  sandbox(
    'wrong-hash',
    '0.05',
    'b',
    'security',
    'Signs the hash of another text.',
    'Returns a result with the hash of another text and a valid signature over that hash.',
  ),
  sandbox(
    'wrong-id',
    '0.05',
    'a',
    'security',
    'Answers for another execution.',
    'Returns a correctly signed result with another execution_id.',
  ),
  sandbox('malformed', '0.05', 'b', 'data', 'Returns invalid JSON.', 'Answers HTTP 200 with invalid JSON.'),
  sandbox(
    'huge',
    '0.5',
    'a',
    'data',
    'Returns a result that is too large.',
    'Returns a correctly signed result of 6 MiB.',
  ),
  sandbox(
    'offline',
    '1',
    'b',
    'monitoring',
    'Does not answer at all.',
    'Nothing listens at its endpoint. The marketplace retries until the deadline, then answers 408 `execution_timeout`.',
  ),
  sandbox(
    'paused',
    '5',
    'a',
    'monitoring',
    'Takes no calls: its creator has paused it.',
    'Works like sandbox-echo, but its listing is paused: calls to it are refused with 422 `agent_paused`.',
  ),
];

export const demoAgents: readonly DemoAgent[] = [...useful, ...sandboxes];

/** The agent of this name. Throws if there is none. */
export function demoAgent(name: string): DemoAgent {
  const agent = demoAgents.find((candidate) => candidate.name === name);
  if (!agent) throw new Error(`there is no demo agent called ${name}`);
  return agent;
}
