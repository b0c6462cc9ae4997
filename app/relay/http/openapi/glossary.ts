/**
 * The meaning of each field and query parameter, in the file of its subject. A name has the same meaning everywhere,
 * unless it is listed with its owner, or its schema has a `.describe()`. A test finds fields without a description, and
 * unused entries.
 */
import { AGENTS_FIELDS } from './glossary/agents.ts';
import { EVENTS_FIELDS } from './glossary/events.ts';
import { EXECUTIONS_FIELDS } from './glossary/executions.ts';
import { KEYS_FIELDS } from './glossary/keys.ts';
import { SERVICE_FIELDS } from './glossary/service.ts';

export const GLOSSARY: Record<string, string> = {
  ...AGENTS_FIELDS,
  ...EVENTS_FIELDS,
  ...EXECUTIONS_FIELDS,
  ...KEYS_FIELDS,
  ...SERVICE_FIELDS,
};
