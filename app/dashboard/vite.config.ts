/** How the page is built: into `dist/`, with hashed names, nothing inlined that a strict policy would refuse. */
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  resolve: { alias: { buffer: 'buffer/' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // A data: URI would need a word of its own in the policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_500,
    reportCompressedSize: false,
  },
  logLevel: 'warn',
});
