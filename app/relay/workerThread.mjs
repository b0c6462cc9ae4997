/** Runs in each thread of workers.ts: reads TypeScript as the process does, and calls the function that is named. */
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { register } from 'tsx/esm/api';

/** Bytes from here on are worth handing over, rather than having the thread that serves everybody copy them. */
const LONG_BYTES = 64 * 1024;

register();

export default async ({ moduleUrl, name, input }) => {
  const functions = await import(moduleUrl);
  return handOver(functions[name](input));
};

function handOver(output) {
  const buffers = longBuffersIn(output);
  if (buffers.length === 0) return output;
  return move({ [transferableSymbol]: buffers, [valueSymbol]: output });
}

/** Buffers of which an output has the whole. */
function longBuffersIn(output) {
  if (output instanceof Uint8Array) {
    return output.length >= LONG_BYTES && output.length === output.buffer.byteLength ? [output.buffer] : [];
  }
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return [];
  return Object.values(output).flatMap(longBuffersIn);
}
