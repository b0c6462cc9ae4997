/** The types of events by their subject, in the order in which they are shown. */
import { EVENT_TYPES, type EventType } from '../../../sdk/wire/events.ts';

type Subject = EventType extends `${infer Name}.${string}` ? Name : never;

const NAMES: Record<Subject, string> = {
  execution: 'Calls',
  dispute: 'Disputes',
  agent: 'Your agents',
  key: 'Keys and gas',
  gas: 'Keys and gas',
  webhook: 'Webhooks',
};

const nameOf = (type: EventType): string => NAMES[type.split('.')[0] as Subject];

export const EVENT_GROUPS: readonly { name: string; types: readonly EventType[] }[] = [
  ...new Set(EVENT_TYPES.map(nameOf)),
].map((name) => ({ name, types: EVENT_TYPES.filter((type) => nameOf(type) === name) }));
