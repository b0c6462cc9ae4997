/**
 * Node's own fetch gives up if an answer does not start within five minutes; the test of a slow agent may take an hour.
 */
import { Agent, fetch as undiciFetch } from 'undici';

const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

const send: typeof undiciFetch = (url, init) => undiciFetch(url, { ...init, dispatcher });

/** `fetch` without a timeout. The types of both packages describe one standard. */
export const patientFetch = send as unknown as typeof fetch;
