/**
 * The checks of the conformance test of a creator's server, in their order. `creator/conformance.ts` makes them, for the
 * page's test and for `creator test`. Paid calls depend on the required ones. The others protect the creator, or its
 * callers' time and money.
 */
export const CONFORMANCE_CHECKS = [
  { name: 'metadata', required: true, title: 'Description', expected: 'stored; the parameters fit its input schema' },
  { name: 'reachable', required: true, title: 'Endpoint', expected: 'answers a signed request with HTTP 200 in time' },
  { name: 'size', required: true, title: 'Size', expected: 'an uncompressed answer of at most 5 MiB' },
  { name: 'json', required: true, title: 'Answer', expected: 'is JSON' },
  { name: 'execution_id', required: true, title: 'Execution id', expected: 'equals the request' },
  { name: 'status', required: true, title: 'Status', expected: '"completed", with a result' },
  {
    name: 'result_hash',
    required: true,
    title: 'Result hash',
    expected: '"sha256:" and the lower-case hex SHA-256 of the result',
  },
  {
    name: 'signature',
    required: true,
    title: 'Signature',
    expected: '"ed25519:" and the base58 signature of the signing key over the result hash',
  },
  { name: 'content_type', required: false, title: 'Content type', expected: 'application/json' },
  {
    name: 'repeated_id',
    required: false,
    title: 'Repeated request',
    expected: 'the same answer for the same execution_id, without doing the work again',
  },
  {
    name: 'deadline',
    required: false,
    title: 'Deadline',
    expected: 'an answer, "completed" or "failed", before timeout_seconds have passed',
  },
  {
    name: 'slow_start',
    required: false,
    title: 'Slow start',
    expected: 'a first answer that is at most 2 s slower than a later one',
  },
  {
    name: 'failure',
    required: false,
    title: 'Failure',
    expected:
      '"failed" with an error, and null as result, result_hash and signature, if the server does not have the named key',
  },
  { name: 'media_type', required: false, title: 'Wrong content type', expected: 'HTTP 415, or another 4xx' },
  { name: 'unsigned', required: false, title: 'Unsigned request', expected: 'HTTP 401, or another 4xx' },
  { name: 'forged', required: false, title: 'Altered request', expected: 'HTTP 401, or another 4xx' },
] as const;

/**
 * True if the test's own request was wrong: it does not fit the description, or there is none. Nothing was sent then, so
 * it says nothing about the endpoint.
 */
export const isUnsent = (checks: readonly { name: string; ok: boolean }[]): boolean =>
  checks.some(({ name, ok }) => name === 'metadata' && !ok);

export type ConformanceCheck = (typeof CONFORMANCE_CHECKS)[number]['name'];
export const CONFORMANCE_NAMES = CONFORMANCE_CHECKS.map(({ name }) => name) as [
  ConformanceCheck,
  ...ConformanceCheck[],
];
