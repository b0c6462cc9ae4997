/** The types of events by their subject, and when each is sent. */
import { useQuery } from '@tanstack/react-query';
import { EVENT_MEANINGS, EVENT_TYPES, type EventType } from '../../../sdk/wire/events.ts';
import { configQuery } from '../../service.ts';

type Subject = EventType extends `${infer Name}.${string}` ? Name : never;

const NAMES: Record<Subject, string> = {
  execution: 'Calls that this wallet makes',
  dispute: 'Disputes, as caller or as creator',
  agent: 'Agents that this wallet lists',
  key: 'API keys and gas balance',
  gas: 'API keys and gas balance',
  webhook: 'Webhooks',
};
/** The order in which they are shown; what concerns a creator first, or last for a wallet without agents. */
const OF_CALLER: readonly Subject[] = ['execution', 'dispute', 'key', 'webhook', 'agent'];
const OF_CREATOR: readonly Subject[] = ['agent', 'dispute', 'execution', 'key', 'webhook'];

const nameOf = (type: EventType): string => NAMES[type.split('.')[0] as Subject];

export interface EventGroup {
  name: string;
  types: readonly EventType[];
}

export const eventGroups = (isCreator: boolean): EventGroup[] =>
  (isCreator ? OF_CREATOR : OF_CALLER).map((subject) => {
    const name = NAMES[subject];
    return { name, types: EVENT_TYPES.filter((type) => nameOf(type) === name) };
  });

/** When a type is sent, under the marketplace's present terms. */
export function useMeanings(): (type: EventType) => string {
  const { data: config } = useQuery(configQuery);
  const isCapped = config !== undefined && config.exposure_multiple > 0;
  return (type) =>
    type === 'agent.collateral_low' && isCapped
      ? `${EVENT_MEANINGS[type]} Also sent once an agent has used more than 80 % of the cap on its calls.`
      : EVENT_MEANINGS[type];
}
