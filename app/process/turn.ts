import { setImmediate } from 'node:timers/promises';

/**
 * Lets the event loop serve everybody else once. After I/O, Node runs a first immediate before it looks at sockets again,
 * and a second one after that.
 */
export async function wholeTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
