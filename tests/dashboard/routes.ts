/** The page's table of addresses, read from its source, because the page runs only in a browser. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../local/start.ts';

/** Such as `/agents/$agentId`. */
export const ROUTES: readonly string[] = [
  ...readFileSync(join(ROOT, 'app', 'dashboard', 'routes.tsx'), 'utf8').matchAll(/\bpath: '([^']+)'/g),
].map((match) => match[1]!);

/** An address of the route, with `value` for each parameter. */
export const addressOf = (route: string, value: string): string => route.replace(/\$\w+/g, value);
