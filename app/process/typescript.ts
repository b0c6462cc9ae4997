/** Running our sources in a process of their own: what `fork` needs to read TypeScript. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Arguments of Node before the file's name. */
export const TYPESCRIPT_ARGS = ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href];
