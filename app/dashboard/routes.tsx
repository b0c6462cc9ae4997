/** Every URL of the web page and its view. Views are loaded on navigation. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  type RouterHistory,
} from '@tanstack/react-router';
import { NotFound } from './parts/explained.tsx';
import { Layout } from './parts/layout.tsx';
import { Button, Note, Spinner } from './parts/ui.tsx';
import { explain } from './service.ts';
import { parseAdminSearch } from './views/admin/search.ts';
import { parseCatalogueSearch } from './views/catalogueSearch.ts';
import Docs from './views/docs.tsx';
import { parseExecutionsSearch } from './views/executions/search.ts';
import { parseListingSearch } from './views/listing/search.ts';

const root = createRootRoute({
  component: Layout,
  notFoundComponent: () => (
    <NotFound title="This page does not exist">
      The link may be wrong, or the page was removed. This site has AI agents that you pay per call.
    </NotFound>
  ),
});

const below = { getParentRoute: () => root };
const view = (load: () => Promise<{ default: React.ComponentType }>) => lazyRouteComponent(load);

const routes = [
  createRoute({
    ...below,
    path: '/',
    validateSearch: parseCatalogueSearch,
    component: view(() => import('./views/catalogue.tsx')),
  }),
  createRoute({
    ...below,
    path: '/agents/$agentId',
    validateSearch: (search: Record<string, unknown>): { tab?: 'run' | 'code' } =>
      search.tab === 'run' || search.tab === 'code' ? { tab: search.tab } : {},
    component: view(() => import('./views/agent.tsx')),
  }),
  createRoute({
    ...below,
    path: '/verify',
    validateSearch: (search: Record<string, unknown>): { id?: string; print?: boolean } =>
      typeof search.id === 'string' ? { id: search.id, ...(search.print === true && { print: true }) } : {},
    component: view(() => import('./views/verify.tsx')),
  }),
  createRoute({ ...below, path: '/terms', component: view(() => import('./views/terms.tsx')) }),
  createRoute({ ...below, path: '/keys', component: view(() => import('./views/keys.tsx')) }),
  createRoute({ ...below, path: '/connect', component: view(() => import('./views/connect.tsx')) }),
  createRoute({
    ...below,
    path: '/webhooks',
    validateSearch: (search: Record<string, unknown>): { add?: 'disputes' } =>
      search.add === 'disputes' ? { add: 'disputes' } : {},
    component: view(() => import('./views/webhooks.tsx')),
  }),
  createRoute({
    ...below,
    path: '/executions',
    validateSearch: parseExecutionsSearch,
    component: view(() => import('./views/executions.tsx')),
  }),
  createRoute({ ...below, path: '/executions/$executionId', component: view(() => import('./views/execution.tsx')) }),
  createRoute({
    ...below,
    path: '/spend',
    validateSearch: (search: Record<string, unknown>): { by?: 'key' } => (search.by === 'key' ? { by: 'key' } : {}),
    component: view(() => import('./views/spend.tsx')),
  }),
  createRoute({
    ...below,
    path: '/disputes',
    validateSearch: (search: Record<string, unknown>): { page?: number } =>
      typeof search.page === 'number' && search.page > 1 ? { page: Math.floor(search.page) } : {},
    component: view(() => import('./views/disputes.tsx')),
  }),
  createRoute({ ...below, path: '/disputes/$executionId', component: view(() => import('./views/dispute.tsx')) }),
  createRoute({ ...below, path: '/creator', component: view(() => import('./views/creator.tsx')) }),
  createRoute({ ...below, path: '/creator/new', component: view(() => import('./views/newListing.tsx')) }),
  createRoute({
    ...below,
    path: '/creator/calls',
    validateSearch: parseListingSearch,
    component: view(() => import('./views/creatorCalls.tsx')),
  }),
  createRoute({
    ...below,
    path: '/creator/$agentId',
    validateSearch: parseListingSearch,
    component: view(() => import('./views/listing.tsx')),
  }),
  // Not lazy, because its document already contains the text.
  createRoute({ ...below, path: '/docs', component: Docs }),
  createRoute({
    ...below,
    path: '/admin',
    validateSearch: parseAdminSearch,
    component: view(() => import('./views/admin.tsx')),
  }),
  createRoute({ ...below, path: '/admin/disputes/$executionId', component: view(() => import('./views/dispute.tsx')) }),
];

const routeTree = root.addChildren(routes);

/** Shown while a view is loaded. */
export const PENDING = 'Loading …';

/** `scrollRestoration` is for browsers only: in prerendering, the router would write a script into the page. */
export const createPageRouter = (history: RouterHistory, { scrollRestoration = false } = {}) =>
  createRouter({
    routeTree,
    history,
    defaultPreload: 'intent',
    scrollRestoration,
    defaultPendingComponent: () => <Spinner label={PENDING} />,
    defaultErrorComponent: Broken,
  });

export type PageRouter = ReturnType<typeof createPageRouter>;

declare module '@tanstack/react-router' {
  interface Register {
    router: PageRouter;
  }
}

/** Shown for a fault of the page, or if one of its files could not be loaded. */
function Broken({ error, reset }: ErrorComponentProps) {
  return (
    <div className="grid gap-4">
      <h1 className="text-2xl font-semibold">This page could not be loaded</h1>
      <Note tone="bad">{explain(error)}</Note>
      <div>
        <Button onClick={reset}>Try again</Button>
      </div>
    </div>
  );
}
