/** Puts the page into the document, once its first view can be drawn whole. */
import { createBrowserHistory } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Page } from './page.tsx';
import { createPageRouter, type PageRouter } from './routes.tsx';
import { agentQuery, agentsQuery, configQuery, loadApi, queryClient, styleNonce } from './service.ts';
import { filtersOf } from './views/catalogueSearch.ts';
import { sessionQuery } from './wallet/session.ts';

/** For so long the drawing that the document brought stands in for a view whose data does not come. */
const FIRST_DATA_MS = 1_500;

export async function startPage(): Promise<void> {
  // Libraries that write a style element of their own may do so only with it.
  setNonce(styleNonce());
  const router = createPageRouter(createBrowserHistory(), { scrollRestoration: true });
  const patience = new Promise((resolve) => setTimeout(resolve, FIRST_DATA_MS));
  await Promise.race([loadFirst(router), patience]);
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <Page router={router} />
    </StrictMode>,
  );
  // Before they are asked for, so that they are there even while the service is not.
  requestIdleCallback(
    () => void Promise.allSettled([import('./parts/connectDialog.tsx'), import('./parts/notices.tsx')]),
  );
}

/** A moment for the browser, which answers nobody while a long piece of work is done at once. */
const breathe = () => new Promise((resolve) => setTimeout(resolve));

async function loadFirst(router: PageRouter): Promise<void> {
  await router.load();
  await breathe();
  await loadApi();
  await breathe();
  await loadFirstData(router);
  await breathe();
}

/** What the frame and the first view ask for, so that they are drawn once. Whatever fails is the view's to say. */
async function loadFirstData({ state }: PageRouter): Promise<void> {
  const queries: Promise<void>[] = [queryClient.prefetchQuery(sessionQuery), queryClient.prefetchQuery(configQuery)];
  const match = state.matches.at(-1);
  if (match?.routeId === '/') queries.push(queryClient.prefetchQuery(agentsQuery(filtersOf(match.search))));
  if (match?.routeId === '/agents/$agentId') queries.push(queryClient.prefetchQuery(agentQuery(match.params.agentId)));
  await Promise.all(queries);
}
