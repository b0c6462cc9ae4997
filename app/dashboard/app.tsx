/** Renders the web page once its first view can be drawn completely. */
import { createBrowserHistory } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode, startTransition } from 'react';
import { createRoot } from 'react-dom/client';
import { Page } from './page.tsx';
import { createPageRouter, type PageRouter } from './routes.tsx';
import { agentQuery, agentsQuery, configQuery, exampleQuery, loadApi, queryClient, styleNonce } from './service.ts';
import { filtersOf } from './views/catalogueSearch.ts';
import { sessionQuery } from './wallet/session.ts';

/** Timeout of the first view's data, ms. Until then the prerendered drawing is shown. */
const FIRST_DATA_MS = 1_500;

export async function startPage(): Promise<void> {
  // Libraries that add a style element need this nonce, because of the CSP.
  setNonce(styleNonce());
  const router = createPageRouter(createBrowserHistory(), { scrollRestoration: true });
  const patience = new Promise((resolve) => setTimeout(resolve, FIRST_DATA_MS));
  await Promise.race([loadFirst(router), patience]);
  // In a transition React yields to the browser between components. The drawing stays until all of them are there.
  startTransition(() =>
    createRoot(document.getElementById('root')!).render(
      <StrictMode>
        <Page router={router} />
      </StrictMode>,
    ),
  );
  // Loaded before they are needed, so that they exist even while the service is down.
  requestIdleCallback(
    () => void Promise.allSettled([import('./parts/connectDialog.tsx'), import('./parts/notices.tsx')]),
  );
}

/** Yields to the browser, which cannot respond during one long task. */
const breathe = () => new Promise((resolve) => setTimeout(resolve));

async function loadFirst(router: PageRouter): Promise<void> {
  await router.load();
  await breathe();
  await loadApi();
  await breathe();
  await loadFirstData(router);
  await breathe();
}

/** Fetches the data of the frame and the first view, so that they are drawn once. The view reports failures. */
async function loadFirstData({ state }: PageRouter): Promise<void> {
  const queries: Promise<void>[] = [queryClient.prefetchQuery(sessionQuery), queryClient.prefetchQuery(configQuery)];
  const match = state.matches.at(-1);
  if (match?.routeId === '/') queries.push(queryClient.prefetchQuery(agentsQuery(filtersOf(match.search))));
  if (match?.routeId === '/agents/$agentId') {
    const { agentId } = match.params;
    // A later example would move what is below it.
    queries.push(queryClient.prefetchQuery(agentQuery(agentId)), queryClient.prefetchQuery(exampleQuery(agentId)));
  }
  await Promise.all(queries);
}
