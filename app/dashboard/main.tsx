/** The page's first file: style, routes, and what every view shares. */
import './style.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Toasts } from './parts/toasts.tsx';
import { queryClient, router } from './routes.tsx';
import { styleNonce } from './service.ts';

// Libraries that write a style element of their own may do so only with it.
setNonce(styleNonce());

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Toasts>
        <RouterProvider router={router} />
      </Toasts>
    </QueryClientProvider>
  </StrictMode>,
);
