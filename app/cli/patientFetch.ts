/** Node's own fetch gives an answer five minutes to begin; the test of a slow agent may take an hour. */
import { Agent, fetch as undiciFetch } from 'undici';

const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

const send: typeof undiciFetch = (url, init) => undiciFetch(url, { ...init, dispatcher });

/** `fetch`, waiting as long as an answer takes. The types of both packages describe one standard. */
export const patientFetch = send as unknown as typeof fetch;
