/** Runs our sources in a separate process: arguments that let `fork` read TypeScript. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Arguments of Node before the file's name. */
export const TYPESCRIPT_ARGS = ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href];
