/**
 * A listing's metadata: one JSON document that describes the agent, stored off the chain. The listing's metadata_hash
 * is the SHA-256 of the bytes that the creator wrote (receipt/metadataHash.ts), which keeps the order of a schema's
 * properties. Creators write it with this module, and the relay checks it here.
 */
import * as z from 'zod';
import { STANDARD_TAGS, type StandardTag } from './choices.ts';
import { findPictureFault, MAX_PICTURE_URL, PICTURE_RULE, PICTURE_URL } from './picture.ts';

export { STANDARD_TAGS, type StandardTag };

/** Largest document, bytes. */
export const MAX_METADATA_BYTES = 64 * 1024;
/** Maximum number of custom tags, besides the standard ones. */
export const MAX_CUSTOM_TAGS = 5;

export function isStandardTag(tag: string): tag is StandardTag {
  return (STANDARD_TAGS as readonly string[]).includes(tag);
}

/** The tag_mask of a listing with these standard tags. */
export function tagMask(tags: readonly StandardTag[]): number {
  return tags.reduce((mask, tag) => mask | (1 << STANDARD_TAGS.indexOf(tag)), 0);
}

/** The standard tags of a mask, in the taxonomy's order. */
export function tagsOfMask(mask: number): StandardTag[] {
  return STANDARD_TAGS.filter((_, bit) => (mask & (1 << bit)) !== 0);
}

/** Lone surrogates have no UTF-8 bytes. Control characters would let a creator write into terminals. */
const LINE = /^[^\p{Cc}\p{Surrogate}\u2028\u2029]*$/u;
const TEXT = /^(?:[^\p{Cc}\p{Surrogate}]|[\n\t])*$/u;

function line(what: string, maximum: number) {
  const rule = `must be 1 to ${maximum} characters on one line`;
  return z
    .string(rule)
    .min(1, rule)
    .max(maximum, rule)
    .regex(LINE, rule)
    .refine((text) => text.trim() === text, `${what} must not begin or end with white space`);
}

const TAG_RULE = 'must be 2 to 24 of a-z, 0-9 and -, such as spreadsheets';
const ENDPOINT_RULE = 'must be a full http or https URL without credentials, query or fragment, ending in /execute';

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.href === text &&
    url.pathname.endsWith('/execute') &&
    url.username + url.password + url.search + url.hash === ''
  );
}

/** The document. The relay checks the JSON Schema keywords of the two schemas. */
export const AgentMetadata = z.strictObject({
  name: line('name', 64),
  /** One sentence. */
  tagline: line('tagline', 140),
  /** Markdown or plain text, shown as text. */
  description: z.string().min(1).max(8000).regex(TEXT, 'must not contain control characters other than line breaks'),
  /** The creator's display name. */
  display_name: line('display_name', 64),
  /** A small picture, which the marketplace serves at an address of its own. */
  picture: z
    .string(PICTURE_RULE)
    .max(MAX_PICTURE_URL, { error: PICTURE_RULE, abort: true })
    .regex(PICTURE_URL, { error: PICTURE_RULE, abort: true })
    .superRefine((url, context) => {
      const fault = findPictureFault(url);
      if (fault) context.addIssue(fault);
    })
    .optional(),
  /** Shown after the listing's standard tags, which the chain carries. */
  custom_tags: z
    .array(z.string().regex(/^[a-z0-9-]{2,24}$/, TAG_RULE))
    .max(MAX_CUSTOM_TAGS, `must be at most ${MAX_CUSTOM_TAGS} tags`)
    .refine((tags) => new Set(tags).size === tags.length, 'must not repeat a tag')
    .refine(
      (tags) => !tags.some(isStandardTag),
      "must not contain standard tags, which belong in the listing's tag_mask",
    ),
  /** JSON Schema of `parameters`: an object. */
  input_schema: z.record(z.string(), z.unknown(), 'must be a JSON Schema object'),
  /** Describes the result; not enforced, because a result is text. */
  output_schema: z.record(z.string(), z.unknown(), 'must be a JSON Schema object'),
  /** URL that the marketplace posts executions to. Never part of a public answer. */
  endpoint: z.string().max(2048).refine(isEndpoint, ENDPOINT_RULE).meta({ format: 'uri' }),
});
export type AgentMetadata = z.infer<typeof AgentMetadata>;

/** The document's bytes, with the properties in the order of `metadata`. Other encodings are equally valid. */
export function encodeMetadata(metadata: AgentMetadata): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(metadata));
}
