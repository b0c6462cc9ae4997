/** Runs in each thread of workers.ts: loads TypeScript like the process, and calls the named function, if any. */
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { importSource } from '../process/source.mjs';

/** From this size on, bytes are transferred instead of copied by the main thread. */
const LONG_BYTES = 64 * 1024;

const modules = new Map();

export default async ({ moduleUrl, name, input, bytes }) => {
  if (!modules.has(moduleUrl)) modules.set(moduleUrl, importSource(moduleUrl));
  const functions = await modules.get(moduleUrl);
  if (name === undefined) return undefined;
  return handOver(bytes ? functions[name](bytes, input) : functions[name](input));
};

function handOver(output) {
  const buffers = longBuffersIn(output);
  if (buffers.length === 0) return output;
  return move({ [transferableSymbol]: buffers, [valueSymbol]: output });
}

/** Long buffers that an output owns completely. */
function longBuffersIn(output) {
  if (output instanceof Uint8Array) {
    return output.length >= LONG_BYTES && output.length === output.buffer.byteLength ? [output.buffer] : [];
  }
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return [];
  return Object.values(output).flatMap(longBuffersIn);
}
