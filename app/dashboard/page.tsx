/** Providers that every view shares. */
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Toasts } from './parts/toasts.tsx';
import type { PageRouter } from './routes.tsx';
import { queryClient } from './service.ts';

export function Page({ router }: { router: PageRouter }) {
  // From here on, this is the live page and not the prerendered drawing.
  useEffect(() => document.getElementById('root')?.removeAttribute('data-drawing'), []);
  return (
    <QueryClientProvider client={queryClient}>
      <Toasts>
        <RouterProvider router={router} />
      </Toasts>
    </QueryClientProvider>
  );
}
