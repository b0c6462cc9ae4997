/** The work that threads.test.ts runs in threads. */

export function double(value: number): number {
  return 2 * value;
}

export function fail(): never {
  throw new RangeError('a fault of ours');
}

export function die(): never {
  process.exit(1);
}

export function devour(): number {
  const eaten: number[][] = [];
  for (;;) eaten.push(Array.from({ length: 1_000_000 }, (_, index) => index + eaten.length));
}

export function ends(bytes: Uint8Array, name: string): string {
  return `${name}: ${bytes.length}, ${bytes[0]} to ${bytes.at(-1)}`;
}

/** Blocks the thread until `release`. */
export function hold(cell: SharedArrayBuffer): void {
  Atomics.wait(new Int32Array(cell), 0, 0);
}

export function release(cell: SharedArrayBuffer): void {
  Atomics.store(new Int32Array(cell), 0, 1);
  Atomics.notify(new Int32Array(cell), 0);
}

export function busy(ms: number): number {
  // Blocks the thread without using the processor.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  return ms;
}

export function burn(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}
