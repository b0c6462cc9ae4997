/** Agents and creators by words: the full-text index of the documents that are shown, and the tags that listings carry. */
import { type RawBuilder, sql } from 'kysely';
import { STANDARD_TAGS, tagMask } from '../../sdk/wire/metadata.ts';

/** The words of what somebody typed, without what separates them. */
function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/** Whether a document has a word that begins so, in these columns of the index. Words are letters and digits alone. */
function hasWord(metadataHash: RawBuilder<unknown>, columns: string, word: string): RawBuilder<boolean> {
  const match = `{${columns}} : "${word}"*`;
  return sql<boolean>`${metadataHash} IN (
    SELECT words.metadata_hash FROM metadata_words AS words WHERE metadata_words MATCH ${match})`;
}

/** Whether all words begin one of the document's, or a standard tag of the listing. Never where the text has no words. */
export function matchesWords(listing: { hash: RawBuilder<unknown>; mask: RawBuilder<unknown> }, text: string) {
  return every(wordsOf(text), (word) => {
    const mask = BigInt(tagMask(STANDARD_TAGS.filter((tag) => tag.startsWith(word.toLowerCase()))));
    const inDocument = hasWord(listing.hash, 'name tagline tags display_name', word);
    return mask === 0n ? inDocument : sql<boolean>`((${listing.mask} & ${mask}) <> 0 OR ${inDocument})`;
  });
}

/** Whether all words begin one of the creator's name in the document. */
export function matchesCreator(metadataHash: RawBuilder<unknown>, text: string): RawBuilder<boolean> {
  return every(wordsOf(text), (word) => hasWord(metadataHash, 'display_name', word));
}

function every(words: string[], condition: (word: string) => RawBuilder<boolean>): RawBuilder<boolean> {
  return words.length === 0 ? sql<boolean>`0` : sql<boolean>`(${sql.join(words.map(condition), sql` AND `)})`;
}
