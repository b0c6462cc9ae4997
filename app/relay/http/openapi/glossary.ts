/**
 * The meaning of each field and query parameter, in the file of its subject. A name has the same meaning everywhere,
 * unless it is listed with its owners, or its schema has a `.describe()`. A test finds fields without a description, and
 * unused entries.
 */
import { AGENTS_FIELDS } from './glossary/agents.ts';
import { EVENTS_FIELDS } from './glossary/events.ts';
import { EXECUTIONS_FIELDS } from './glossary/executions.ts';
import { KEYS_FIELDS } from './glossary/keys.ts';
import { SERVICE_FIELDS } from './glossary/service.ts';

const ALL = { ...AGENTS_FIELDS, ...EVENTS_FIELDS, ...EXECUTIONS_FIELDS, ...KEYS_FIELDS, ...SERVICE_FIELDS };

/** By `name` or `Owner.name`. An entry such as `One|Other.name` is for both. */
export const GLOSSARY: Record<string, string> = Object.fromEntries(
  Object.entries(ALL).flatMap(([entry, meaning]) => {
    const [name, owners] = entry.split('.').reverse() as [string, string?];
    return owners ? owners.split('|').map((owner) => [`${owner}.${name}`, meaning]) : [[name, meaning]];
  }),
);
