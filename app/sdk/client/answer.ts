/** Reads answers by their schemas. */
import type * as z from 'zod';
import type { ReadOptions } from './http.ts';

/** A client's reads, which are retried. */
export interface Reading {
  get<T>(schema: z.ZodType<T>, path: string, options?: ReadOptions): Promise<T>;
}

/**
 * Returns the answer without fields unknown to its schema. Throws ZodError if a field is missing or has another type.
 */
export function read<T>(schema: z.ZodType<T>, answer: unknown): T {
  const { error, data } = schema.safeParse(answer);
  if (!error) return data as T;
  const known = structuredClone(answer);
  for (const issue of error.issues) {
    if (issue.code !== 'unrecognized_keys') throw error;
    // biome-ignore lint/suspicious/noExplicitAny: the path leads to an object, or there would be another issue
    const object = issue.path.reduce((value: any, key) => value[key], known);
    for (const key of issue.keys) delete object[key];
  }
  return schema.parse(known);
}
