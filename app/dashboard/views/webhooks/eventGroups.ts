/** The types of events by their subject. */
import { EVENT_TYPES, type EventType } from '../../../sdk/wire/events.ts';

type Subject = EventType extends `${infer Name}.${string}` ? Name : never;

/** In the order in which they are shown. */
const NAMES: Record<Subject, string> = {
  execution: 'Calls that this wallet makes',
  dispute: 'Disputes, as caller or as creator',
  agent: 'Agents that this wallet lists',
  key: 'API keys and gas balance',
  gas: 'API keys and gas balance',
  webhook: 'Webhooks',
};

const nameOf = (type: EventType): string => NAMES[type.split('.')[0] as Subject];

export const EVENT_GROUPS: readonly { name: string; types: readonly EventType[] }[] = [
  ...new Set(Object.values(NAMES)),
].map((name) => ({ name, types: EVENT_TYPES.filter((type) => nameOf(type) === name) }));
