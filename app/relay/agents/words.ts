/** The search words of agents, normalized so that both databases find the same, and the conditions of a search. */
import { type AgentMetadata, tagsOfMask } from '../../sdk/wire/metadata.ts';

/** The part of a document that lists show. */
export type Description = Pick<AgentMetadata, 'name' | 'tagline' | 'display_name' | 'custom_tags'>;

/** The words of a text without case, accents and separators. PostgreSQL rejects words of more than 2,046 bytes. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return [...new Set(plain.match(/[\p{L}\p{N}]{1,100}/gu) ?? [])];
}

/** `agent_texts.words`: words, the creator's name with @ before each word, tags with #. Empty without a document. */
export function searchableWords(description: Description | null, tagMask: number): string {
  if (!description) return '';
  const { name, tagline, display_name, custom_tags } = description;
  const tags = [...tagsOfMask(tagMask), ...custom_tags];
  return [
    ...wordsOf([name, tagline, display_name, ...tags].join(' ')),
    ...wordsOf(display_name).map((word) => `@${word}`),
    ...tags.map((tag) => `#${tag}`),
  ].join(' ');
}

/** A condition: the agent has this word, or with `isBeginning` a word that begins with it. */
export interface Asked {
  word: string;
  isBeginning: boolean;
}

/** Each word of the text must begin a word of the agent. Empty if the text has no words. */
export const askText = (text: string): Asked[] => wordsOf(text).map((word) => ({ word, isBeginning: true }));

/** Each word of the text must begin a word of the creator's name. */
export const askCreator = (text: string): Asked[] =>
  wordsOf(text).map((word) => ({ word: `@${word}`, isBeginning: true }));

/** Null if no agent can have one of these tags. */
export function askTags(tags: readonly string[]): Asked[] | null {
  if (!tags.every((tag) => TAG.test(tag))) return null;
  return tags.map((tag) => ({ word: `#${tag}`, isBeginning: false }));
}

/** Fixed and custom tags. A tag that matches cannot contain operators of a search expression. */
const TAG = /^[a-z0-9-]{2,24}$/;

/** All conditions for FTS5's MATCH. */
export const toMatch = (asked: readonly Asked[]): string =>
  asked.map(({ word, isBeginning }) => `"${word}"${isBeginning ? ' *' : ''}`).join(' AND ');

/** The same for PostgreSQL's tsquery. */
export const toTsquery = (asked: readonly Asked[]): string =>
  asked.map(({ word, isBeginning }) => `'${word}'${isBeginning ? ':*' : ''}`).join(' & ');
