/**
 * The page's views as they stand before anything is known, drawn by the build: what the document brings, so that a slow
 * phone shows the page before it has read any script.
 */
import { createMemoryHistory } from '@tanstack/react-router';
import { renderToStaticMarkup } from 'react-dom/server';
import type { AgentPage } from '../sdk/wire/wire.ts';
import { Page } from './page.tsx';
import { createPageRouter } from './routes.tsx';
import { agentsQuery, queryClient } from './service.ts';
import { filtersOf } from './views/catalogueSearch.ts';

export interface Drawing {
  /** The view's file, from this folder. */
  view: string;
  /** What it asks the service for at once, beside what every view does. */
  asks: string[];
  html: string;
}

/** The service puts an agent's own in their place. */
const AGENT = { agent_id: '__AGENT_ID__', name: '__AGENT_NAME__', tagline: '__AGENT_TAGLINE__' };

const ASKED_BY_ALL = ['/trpc/auth.session', '/trpc/config.get'];

/** The name of each document, the view in it, and an address of it; what is in the address does not show yet. */
const DOCUMENTS: [name: string, view: string, path: string, asks: string[]][] = [
  ['catalogue', 'catalogue', '/', [`/v1/agents?limit=${filtersOf({}).limit}`]],
  // With filters in its address it asks for something else.
  ['search', 'catalogue', '/', []],
  ['agent', 'agent', `/agents/${AGENT.agent_id}`, [`/v1/agents/${AGENT.agent_id}`]],
  ['unknownAgent', 'agent', '/agents/any', []],
  ['verify', 'verify', '/verify', []],
  ['keys', 'keys', '/keys', []],
  ['executions', 'executions', '/executions', []],
  ['execution', 'execution', '/executions/any', []],
  ['disputes', 'disputes', '/disputes', []],
  ['creator', 'creator', '/creator', []],
  ['newListing', 'newListing', '/creator/new', []],
  ['listing', 'listing', '/creator/any', []],
  ['admin', 'admin', '/admin', []],
  ['adminDispute', 'adminDispute', '/admin/disputes/any', []],
];

export async function drawViews(): Promise<Map<string, Drawing>> {
  const drawings = new Map<string, Drawing>();
  for (const [name, view, path, asks] of DOCUMENTS) {
    if (name === 'agent') queryClient.setQueryData(agentsQuery({}).queryKey, { agents: [AGENT] } as AgentPage);
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
  // What is typed before the page is there would be lost with the drawing.
  return html.replaceAll(/<(form|search)(?=[ >])/g, '<$1 inert');
}
