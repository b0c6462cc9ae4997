/** What the tests of events share: a caller with a key, its execution's states, and the events of a stream. */
import { expect } from 'chai';
import type { ExecutionState } from '../../../../app/relay/ledger/tables.ts';
import type { MarketplaceEvent } from '../../../../app/sdk/wire/events.ts';
import { MarketplaceEvent as EventSchema } from '../../../../app/sdk/wire/events.ts';
import type { World } from '../../../harness/edge/api.ts';
import { newAddress } from '../../../harness/edge/rows.ts';

/** A wallet with a key, and a listing. */
export async function addCaller(world: World): Promise<{ wallet: string; key: string; listing: string }> {
  const wallet = newAddress();
  const { apiKey: key } = await world.addKey({ wallet });
  return { wallet, key, listing: await world.addListing() };
}

/** Moves an execution through these states. */
export async function move({ ledger }: World, id: string, ...states: ExecutionState[]): Promise<void> {
  for (const state of states)
    await ledger.updateTable('executions').set({ state }).where('execution_id', '=', id).execute();
}

/** Reads a stream to its end, or until it has `count` events. */
export async function readStream(
  world: World,
  path: string,
  key: string,
  options: { after?: string; count?: number } = {},
) {
  const leaving = new AbortController();
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  if (options.after) headers['last-event-id'] = options.after;
  const response = await fetch(world.url + path, { headers, signal: leaving.signal });
  expect(response.status).to.equal(200);
  expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
  expect(response.headers.get('cache-control')).to.equal('no-store');
  let [text, rest, count] = ['', '', 0];
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    await world.feed.turn();
    const parts = (rest + chunk).split('\n\n');
    rest = parts.pop()!;
    for (const part of parts) text += `${part}\n\n`;
    count += parts.filter((part) => part.includes('data: ')).length;
    if (count >= (options.count ?? Number.POSITIVE_INFINITY)) break;
  }
  leaving.abort();
  return text + rest;
}

export function eventsOf(text: string): MarketplaceEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((part) => part.includes('data: '))
    .map((part) => {
      const [id, type, data] = ['id', 'event', 'data'].map((name) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)![1]);
      const event = EventSchema.parse(JSON.parse(data!)) as MarketplaceEvent;
      expect([event.id, event.type]).to.deep.equal([id, type]);
      return event;
    });
}

export const typesOf = (text: string) => eventsOf(text).map(({ type }) => type);
