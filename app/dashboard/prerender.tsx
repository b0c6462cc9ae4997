/**
 * Draws the page's views without data, during the build. The document contains the drawing, so a slow phone shows the
 * page before it has loaded any script.
 */
import { createMemoryHistory } from '@tanstack/react-router';
import { renderToStaticMarkup } from 'react-dom/server';
import type { AgentPage } from '../sdk/wire/wire.ts';
import { Page } from './page.tsx';
import { createPageRouter, PENDING } from './routes.tsx';
import { agentsQuery, queryClient } from './service.ts';
import type { KnownAgent } from './views/agent.tsx';
import { filtersOf } from './views/catalogueSearch.ts';

export interface Drawing {
  /** The view's file, relative to this folder. */
  view: string;
  /** Requests that it makes at once, besides those of every view. */
  asks: string[];
  html: string;
}

/** Placeholders that the service replaces by the agent's own values. */
const AGENT: KnownAgent = {
  agent_id: '__AGENT_ID__',
  name: '__AGENT_NAME__',
  tagline: '__AGENT_TAGLINE__',
  description: '__AGENT_DESCRIPTION__',
};

const ASKED_BY_ALL = ['/trpc/auth.session', '/trpc/config.get'];

const queryOf = (input: Record<string, unknown>) =>
  new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)]));

/** The name of each document, its view, and a URL of it; the drawing does not depend on the URL's values. */
const DOCUMENTS: [name: string, view: string, path: string, asks: string[]][] = [
  ['catalogue', 'catalogue', '/', [`/v1/agents?${queryOf(filtersOf({}))}`]],
  // With filters in the URL, the catalogue sends other requests.
  ['search', 'catalogue', '/', []],
  [
    'agent',
    'agent',
    `/agents/${AGENT.agent_id}`,
    [
      `/v1/agents/${AGENT.agent_id}`,
      `/trpc/agents.example?input=${encodeURIComponent(JSON.stringify({ agent_id: AGENT.agent_id }))}`,
    ],
  ],
  ['unknownAgent', 'agent', '/agents/any', []],
  ['verify', 'verify', '/verify', []],
  ['terms', 'terms', '/terms', ['/trpc/config.changes']],
  ['keys', 'keys', '/keys', []],
  ['connect', 'connect', '/connect', []],
  ['executions', 'executions', '/executions', []],
  ['execution', 'execution', '/executions/any', []],
  ['spend', 'spend', '/spend', []],
  ['webhooks', 'webhooks', '/webhooks', []],
  ['disputes', 'disputes', '/disputes', []],
  ['dispute', 'dispute', '/disputes/any', []],
  ['creator', 'creator', '/creator', []],
  ['newListing', 'newListing', '/creator/new', []],
  ['creatorCalls', 'creatorCalls', '/creator/calls', []],
  ['listing', 'listing', '/creator/any', []],
  ['docs', 'docs', '/docs', []],
  ['admin', 'admin', '/admin', []],
  // The document of unknown URLs. It preloads the catalogue, because its message links there.
  ['unknown', 'catalogue', '/unknown', []],
  ['adminDispute', 'dispute', '/admin/disputes/any', []],
];

export async function drawViews(): Promise<Map<string, Drawing>> {
  const drawings = new Map<string, Drawing>();
  for (const [name, view, path, asks] of DOCUMENTS) {
    if (name === 'agent')
      queryClient.setQueryData(agentsQuery({}).queryKey, { agents: [AGENT] } as unknown as AgentPage);
    const html = await draw(path);
    drawings.set(name, { view: `views/${view}.tsx`, asks: [...ASKED_BY_ALL, ...asks], html });
    queryClient.clear();
  }
  return drawings;
}

async function draw(path: string): Promise<string> {
  const router = createPageRouter(createMemoryHistory({ initialEntries: [path] }));
  await router.load();
  const html = renderToStaticMarkup(<Page router={router} />);
  // React draws this instead of a view that throws.
  if (html.includes(PENDING)) throw new Error(`the view of ${path} cannot be drawn without a browser`);
  // Input into the drawing would be lost when the live page replaces it.
  return html.replaceAll(/<(form|search)(?=[ >])/g, '<$1 inert');
}
