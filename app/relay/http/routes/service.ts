/** Routes of the service itself: where everything is, whether it works, its documents. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Directory, Health, Ready } from '../../../sdk/wire/wire.ts';
import { readHealth } from '../../operation/health.ts';
import { DOCS_POLICY } from '../docs/style.ts';
import { CACHING, route } from './route.ts';

const IDL = readFileSync(join(import.meta.dirname, '..', '..', '..', 'sdk', 'program', 'idl', 'marketplace.json'));

const READINESS = {
  environment: 'test',
  indexer: { slot: 1_203, lag_ms: 412 },
  executions_in_flight: 2,
};

/** What is in the way is looked at again before that. */
const RETRY_SECONDS = 5;

export const serviceRoutes = {
  getRoot: route({
    method: 'get',
    path: '/',
    tag: 'Service',
    summary: 'Ask where everything is',
    about:
      'Where the guide, this document and the interface of the program are. A browser is shown the marketplace instead.',
    access: 'public',
    answers: {
      200: {
        about: 'The addresses.',
        schema: Directory,
        examples: {
          directory: {
            docs: 'https://api.example.com/docs',
            openapi: 'https://api.example.com/openapi.json',
            idl: 'https://api.example.com/idl.json',
          },
        },
      },
    },
    errors: [],
    cache: CACHING.document,
    async handle({ deps }) {
      const url = deps.baseUrl();
      const value = { docs: `${url}/docs`, openapi: `${url}/openapi.json`, idl: `${url}/idl.json` };
      return { status: 200, value, headers: { Vary: 'Accept' } };
    },
  }),

  getHealth: route({
    method: 'get',
    path: '/health',
    tag: 'Service',
    summary: 'Ask whether the process answers',
    about:
      'Always 200, for a supervisor that restarts a process that hangs. Whether it can serve is asked at `/ready`.',
    access: 'public',
    answers: {
      200: {
        about: 'It answers.',
        schema: Health,
        examples: { healthy: { status: 'ok', environment: 'test', uptime_seconds: 86_400 } },
      },
    },
    errors: [],
    cache: CACHING.never,
    unlimited: true,
    async handle({ deps }) {
      return { status: 200, value: readHealth(deps) };
    },
  }),

  getReady: route({
    method: 'get',
    path: '/ready',
    tag: 'Service',
    summary: 'Ask whether the service works',
    about: 'Whether executions can be taken and read now, and what is in the way.',
    access: 'public',
    answers: {
      200: {
        about: 'They can.',
        schema: Ready,
        examples: { ready: { status: 'ready', problems: [], ...READINESS } },
      },
      503: {
        about: 'They cannot.',
        schema: Ready,
        headers: ['Retry-After'],
        examples: { notReady: { status: 'not_ready', problems: ['chain_unreachable'], ...READINESS } },
      },
    },
    errors: [],
    cache: CACHING.never,
    async handle({ readReadiness }) {
      const readiness = await readReadiness();
      if (readiness.status === 'ready') return { status: 200, value: readiness };
      return { status: 503, value: readiness, headers: { 'Retry-After': String(RETRY_SECONDS) } };
    },
  }),

  getOpenapi: route({
    method: 'get',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'Fetch this document',
    about: 'OpenAPI 3.1, written from the schemas that every request and answer passes.',
    access: 'public',
    answers: { 200: { about: 'The document.', bytes: 'application/json' } },
    errors: [],
    cache: CACHING.document,
    async handle({ openapi }) {
      return { status: 200, value: openapi() };
    },
  }),

  getDocs: route({
    method: 'get',
    path: '/docs',
    tag: 'Service',
    summary: 'Read the guide',
    about: 'This document as a page for people, with a guide.',
    access: 'public',
    answers: { 200: { about: 'The page.', bytes: 'text/html' } },
    errors: [],
    cache: CACHING.document,
    async handle({ docs }) {
      return { status: 200, value: docs(), headers: { 'Content-Security-Policy': DOCS_POLICY } };
    },
  }),

  getIdl: route({
    method: 'get',
    path: '/idl.json',
    tag: 'Service',
    summary: "Fetch the program's interface",
    about:
      'The Anchor IDL of the program on-chain: every instruction, account, event and error, for those who call it without this API.',
    access: 'public',
    answers: { 200: { about: 'The IDL.', bytes: 'application/json' } },
    errors: [],
    cache: CACHING.document,
    async handle() {
      return { status: 200, value: IDL };
    },
  }),
};
