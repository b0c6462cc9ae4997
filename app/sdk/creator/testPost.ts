/** Sends the requests of the conformance test, and shows requests and answers as text. */
import { describeConnectionFault } from './connectionFault.ts';

/** One request. `deadlineMs` is on performance.now()'s clock. */
export interface TestRequest {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
  deadlineMs: number;
}

export interface HttpAnswer {
  kind: 'answer';
  status: number;
  contentType: string | null;
  isCompressed: boolean;
  /** In parts, as received. */
  body: readonly Uint8Array[];
  /** True if the answer was longer than the marketplace reads. `body` is its beginning. */
  isTooLong: boolean;
}

/** The answer, or why there is none. */
export type TestAnswer = HttpAnswer | { kind: 'late' } | { kind: 'unreachable'; problem: string };

/** Sends one request, without redirects and retries. Never rejects because of the server. */
export type Post = (request: TestRequest) => Promise<TestAnswer>;

/** Largest answer that the marketplace reads. */
export const MAX_ANSWER_BYTES = 5 * 1024 * 1024;
const SHOWN_BYTES = 2 * 1024;

/** Sends by fetch, for a computer that may call the server directly. */
export const postByFetch: Post = async ({ url, headers, body, deadlineMs }) => {
  const signal = AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs - performance.now())));
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, accept: 'application/json', 'accept-encoding': 'identity' },
      body: body as Uint8Array<ArrayBuffer>,
      redirect: 'manual',
      signal,
    });
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      parts.push(part);
      size += part.length;
      // Leaving the loop closes the connection.
      if (size > MAX_ANSWER_BYTES) break;
    }
    return {
      kind: 'answer',
      status: response.status,
      contentType: response.headers.get('content-type'),
      isCompressed: isCompressed(response.headers.get('content-encoding') ?? undefined),
      body: parts,
      isTooLong: size > MAX_ANSWER_BYTES,
    };
  } catch (error) {
    if (signal.aborted) return { kind: 'late' };
    return { kind: 'unreachable', problem: `The server cannot be reached: ${describeConnectionFault(error)}` };
  }
};

export function isCompressed(encoding: string | undefined): boolean {
  return encoding !== undefined && encoding !== 'identity';
}

/** The request as text. A signature is valid for a minute, so it is not shown. */
export function showRequest({ url, headers, body }: TestRequest): string {
  const lines = Object.entries(headers).map(([written, value]) => {
    const name = written.toLowerCase();
    return `${name}: ${name === 'signature' ? '...' : value}`;
  });
  return `POST ${url}\n${lines.join('\n')}\n\n${shown([body])}`;
}

/** The answer as text; null if none came. */
export function showAnswer(answer: TestAnswer): string | null {
  if (answer.kind !== 'answer') return null;
  const type = answer.contentType === null ? '' : `content-type: ${answer.contentType}\n`;
  return `HTTP ${answer.status}\n${type}\n${shown(answer.body)}`;
}

/** The beginning of a body. Control characters would let a server write into terminals. */
function shown(body: readonly Uint8Array[]): string {
  const bytes: Uint8Array[] = [];
  let size = 0;
  for (const part of body) {
    if (size > SHOWN_BYTES) break;
    bytes.push(part.subarray(0, SHOWN_BYTES + 1 - size));
    size += bytes.at(-1)!.length;
  }
  const text = Buffer.concat(bytes).subarray(0, SHOWN_BYTES).toString('utf8');
  return text.replace(/[^\P{Cc}\n\t]/gu, '\uFFFD') + (size > SHOWN_BYTES ? '…' : '');
}
