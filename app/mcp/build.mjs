/**
 * Bundles the server with all its dependencies into dist/, so that `npx` downloads one small package. The code for
 * wallets is a separate file, which loads only if a wallet is configured.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const HERE = import.meta.dirname;
const dist = join(HERE, 'dist');

rmSync(dist, { recursive: true, force: true });
await build({
  absWorkingDir: HERE,
  entryPoints: ['main.ts'],
  outdir: dist,
  bundle: true,
  splitting: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
  legalComments: 'linked',
  // Some packages are CommonJS and require Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
  },
});
