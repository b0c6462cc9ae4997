import { setImmediate } from 'node:timers/promises';

/**
 * Lets the event loop process all other pending work once. After I/O, Node runs a first immediate before it polls the
 * sockets again, and a second one after that.
 */
export async function wholeTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
