/** Routes of the service itself: its directory, its health and its documents. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Directory, Health, Ready } from '../../../sdk/wire/wire.ts';
import { MOST_OFFERED, offeredPath } from '../../calls/x402/directory.ts';
import { requireX402 } from '../../calls/x402/sell.ts';
import { ApiError } from '../../errors.ts';
import { readHealth } from '../../operation/health.ts';
import { createServiceCard } from '../agentCard.ts';
import { EXAMPLES } from '../docs/examples.ts';
import { CACHING, ok, route } from './route.ts';

const IDL = readFileSync(join(import.meta.dirname, '..', '..', '..', 'sdk', 'program', 'idl', 'marketplace.json'));

/** Content-Security-Policy of /docs as a separate document: only the text, no scripts, styles, frames or forms. */
export const DOCS_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const READINESS = {
  advice: [],
  environment: 'test',
  indexer: { slot: 1_203, lag_ms: 412 },
  executions_in_flight: 2,
};

/** The problems are checked again within this time. */
const RETRY_SECONDS = 5;

/** The common fields of the documents. */
const DOCUMENT = {
  method: 'get',
  tag: 'Service',
  access: 'public',
  errors: [],
  cache: CACHING.document,
  anyQuery: true,
} as const;
/** The same for what is checked again and again. */
const PROBE = { ...DOCUMENT, cache: CACHING.never } as const;

export const serviceRoutes = {
  getRoot: route({
    ...DOCUMENT,
    path: '/',
    summary: 'List the addresses of this service',
    about:
      'The addresses of the guide, this document and the IDL of the program. A browser gets the web page of the marketplace instead.',
    answers: ok({
      about: 'The addresses.',
      schema: Directory,
      examples: {
        directory: {
          docs: 'https://api.example.com/docs',
          openapi: 'https://api.example.com/openapi.json',
          idl: 'https://api.example.com/idl.json',
        },
      },
    }),
    async handle({ deps }) {
      const url = deps.baseUrl();
      const value = { docs: `${url}/docs`, openapi: `${url}/openapi.json`, idl: `${url}/idl.json` };
      return { status: 200, value, headers: { Vary: 'Accept' } };
    },
  }),

  getHealth: route({
    ...PROBE,
    path: '/health',
    summary: 'Check that the process answers',
    about:
      'Always 200, for a supervisor that restarts a process that hangs. `problems` says why this process refuses new executions. To check that the service works, use `/ready`.',
    answers: ok({
      about: 'The process answers.',
      schema: Health,
      examples: {
        healthy: {
          status: 'ok',
          environment: 'test',
          release: '0.1.0',
          build: '2d88dd0b1c11',
          uptime_seconds: 86_400,
          problems: [],
        },
      },
    }),
    unlimited: true,
    async handle({ deps }) {
      return { status: 200, value: readHealth(deps) };
    },
  }),

  getReady: route({
    ...PROBE,
    path: '/ready',
    summary: 'Check that the service works',
    about: 'Shows if executions can be accepted and read now, and lists the problems if not.',
    // Proxies ask it before they send calls here.
    isUrgent: () => true,
    answers: {
      200: {
        about: 'The service works.',
        schema: Ready,
        examples: { ready: { status: 'ready', problems: [], ...READINESS } },
      },
      503: {
        about: 'The service does not work fully; see `problems`.',
        schema: Ready,
        headers: ['Retry-After'],
        examples: { notReady: { status: 'not_ready', problems: ['chain_unreachable'], ...READINESS } },
      },
    },
    async handle({ readReadiness }) {
      const readiness = await readReadiness();
      if (readiness.status === 'ready') return { status: 200, value: readiness };
      return { status: 503, value: readiness, headers: { 'Retry-After': String(RETRY_SECONDS) } };
    },
  }),

  getOpenapi: route({
    ...DOCUMENT,
    path: '/openapi.json',
    summary: 'Fetch this document',
    about:
      'OpenAPI 3.1, generated from the schemas that validate every request and answer. With `x-payment-info` and a path for each of the best agents, if x402 clients can pay here.',
    answers: ok({ about: 'The document.', bytes: 'application/json' }),
    async handle({ openapi }) {
      return { status: 200, value: await openapi() };
    },
  }),

  getDocs: route({
    ...DOCUMENT,
    path: '/docs',
    summary: 'Read the guide',
    about:
      'This document as a web page, with a guide and code for every route. A browser gets it with the navigation of the web page.',
    answers: ok({ about: 'The page.', bytes: 'text/html' }),
    async handle({ docs }) {
      const headers = { 'Content-Security-Policy': DOCS_POLICY, Vary: 'Accept' };
      return { status: 200, value: docs(), headers };
    },
  }),

  getLlmsText: route({
    ...DOCUMENT,
    path: '/llms.txt',
    summary: 'Fetch the contents of the guide',
    about: 'Links to the guide, every route and the examples, in the form of llmstxt.org.',
    answers: ok({ about: 'The text.', bytes: 'text/plain' }),
    async handle({ llms }) {
      return { status: 200, value: llms() };
    },
  }),

  getServiceCard: route({
    ...DOCUMENT,
    path: '/.well-known/agent-card.json',
    summary: 'Fetch the A2A card of the marketplace',
    about: 'The marketplace as an agent card of A2A 1.0: it finds agents and runs them. Each listing has its own card.',
    answers: ok({ about: 'The card.', bytes: 'application/json' }),
    async handle({ deps }) {
      const card = createServiceCard({ baseUrl: deps.baseUrl(), environment: deps.config.environment });
      return { status: 200, value: Buffer.from(JSON.stringify(card)) };
    },
  }),

  getX402Directory: route({
    ...DOCUMENT,
    path: '/.well-known/x402',
    summary: 'List the resources for x402 clients',
    about: `The URLs of the ${MOST_OFFERED} best active agents that x402 clients can pay, for catalogues of x402 services. A POST to one of them, without a body, is answered with its price and its schema. The URLs of all others differ only in the agent_id, which \`/v1/agents\` lists.`,
    answers: ok({ about: 'The list.', bytes: 'application/json' }),
    errors: ['not_found'],
    async handle({ deps, readOffered }) {
      requireX402(deps);
      const resources = (await readOffered()).map(({ agentId }) => `${deps.baseUrl()}${offeredPath(agentId)}`);
      const instructions = `POST a JSON object with "task", and "parameters" by the schema in the 402. More agents: ${deps.baseUrl()}/v1/agents`;
      return { status: 200, value: Buffer.from(JSON.stringify({ version: 1, resources, instructions })) };
    },
  }),

  getExample: route({
    ...DOCUMENT,
    path: '/examples/{name}',
    summary: 'Fetch an example',
    about: 'A complete program, its input, the test vectors, or the README of a client. The guide lists the names.',
    params: { name: { about: 'The name of the file.', example: 'vectors.json' } },
    answers: ok({ about: 'The file.', bytes: 'text/plain' }),
    async handle(_context, { param }) {
      const file = EXAMPLES.get(param('name'));
      if (!file) throw new ApiError('not_found', 'No example has this name');
      return { status: 200, value: file };
    },
  }),

  getIdl: route({
    ...DOCUMENT,
    path: '/idl.json',
    summary: "Fetch the program's IDL",
    about:
      'The Anchor IDL of the program: every instruction, account, event and error. Use it to call the program without this API.',
    answers: ok({ about: 'The IDL.', bytes: 'application/json' }),
    async handle() {
      return { status: 200, value: IDL };
    },
  }),
};
