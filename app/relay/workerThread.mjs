/** Runs in each thread of workers.ts: reads TypeScript as the process does, and calls the function that is named. */
import { register } from 'tsx/esm/api';

register();

export default async ({ moduleUrl, name, input }) => {
  const functions = await import(moduleUrl);
  return functions[name](input);
};
