/** The search words of agents, normalized so that both databases find the same, and the conditions of a search. */
import { type AgentMetadata, isStandardTag, STANDARD_TAGS, tagMask } from '../../sdk/wire/metadata.ts';
import type { Described } from '../ledger/metadata.ts';

/** The part of a document that lists show. */
export type Description = Pick<AgentMetadata, 'name' | 'tagline' | 'display_name' | 'custom_tags'> & {
  has_picture: boolean;
};

/** The words of a text without case, accents and separators. PostgreSQL rejects words of more than 2,046 bytes. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return [...new Set(plain.match(/[\p{L}\p{N}]{1,100}/gu) ?? [])];
}

/** Words, the creator's name with @ before each word, tags with #. */
function searchableWords({ name, tagline, display_name, custom_tags }: Description): string {
  return [
    ...wordsOf([name, tagline, display_name, ...custom_tags].join(' ')),
    ...wordsOf(display_name).map((word) => `@${word}`),
    ...custom_tags.map((tag) => `#${tag}`),
  ].join(' ');
}

/** Agents with this tag are for tests. */
const SANDBOX = 'sandbox';

/** What lists show and search of a document's text. */
export function describe(document: string): Described {
  const { name, tagline, display_name, custom_tags, picture } = JSON.parse(document) as AgentMetadata;
  const has_picture = picture !== undefined;
  const description: Description = { name, tagline, display_name, custom_tags, has_picture };
  return {
    description: JSON.stringify(description),
    words: searchableWords(description),
    is_sandbox: custom_tags.includes(SANDBOX) ? 1n : 0n,
  };
}

/** A condition: the agent has this word, or with `isBeginning` a word that begins with it. */
export interface Asked {
  word: string;
  isBeginning: boolean;
  /** Standard tags that meet the condition too. Listings have them, not documents. */
  tagMask: number;
}

/** Each word of the text must begin a word of the agent. Empty if the text has no words. */
export const askText = (text: string): Asked[] =>
  wordsOf(text).map((word) => {
    return { word, isBeginning: true, tagMask: tagMask(STANDARD_TAGS.filter((tag) => tag.startsWith(word))) };
  });

/** Each word of the text must begin a word of the creator's name. */
export const askCreator = (text: string): Asked[] =>
  wordsOf(text).map((word) => ({ word: `@${word}`, isBeginning: true, tagMask: 0 }));

/** The standard tags as a mask, and the custom ones as words. Null if no agent can have one of these tags. */
export function askTags(tags: readonly string[]): { mask: number; words: Asked[] } | null {
  if (!tags.every((tag) => TAG.test(tag))) return null;
  const custom = tags.filter((tag) => !isStandardTag(tag));
  return {
    mask: tagMask(tags.filter(isStandardTag)),
    words: custom.map((tag) => ({ word: `#${tag}`, isBeginning: false, tagMask: 0 })),
  };
}

/** Standard and custom tags. A tag that matches cannot contain operators of a search expression. */
const TAG = /^[a-z0-9-]{2,24}$/;

/** All conditions for FTS5's MATCH. */
export const toMatch = (asked: readonly Asked[]): string =>
  asked.map(({ word, isBeginning }) => `"${word}"${isBeginning ? ' *' : ''}`).join(' AND ');

/** The same for PostgreSQL's tsquery. */
export const toTsquery = (asked: readonly Asked[]): string =>
  asked.map(({ word, isBeginning }) => `'${word}'${isBeginning ? ':*' : ''}`).join(' & ');
