/**
 * A creator's draft of an agent as text in fields, and its faults. The rules are the library's schemas; relay and chain
 * check them again.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import type { ListingDraftInput } from '../../../sdk/wallet/listingDraft.ts';
import { AgentMetadata, isStandardTag } from '../../../sdk/wire/metadata.ts';
import { findPictureFault } from '../../../sdk/wire/picture.ts';
import type { MarketplaceConfig, OwnListing } from '../../../sdk/wire/procedures.ts';
import { exampleParameters } from '../agent/schema/example.ts';
import { priceFault } from './own.ts';

export interface Draft {
  /** 16 bytes as hex. Chosen with the draft, so that a proof and a retry are for the same listing. */
  listing_id: string;
  name: string;
  tagline: string;
  description: string;
  display_name: string;
  /** A data: URL; empty without one. */
  picture: string;
  /** Standard and custom tags. */
  tags: string[];
  /** JSON. */
  input_schema: string;
  output_schema: string;
  price_usdc: string;
  timeout_seconds: string;
  min_timeout_seconds: string;
  endpoint: string;
  /** The request of the test. */
  test_task: string;
  test_parameters: Record<string, unknown>;
  /** Shows a passed test on the agent's page. */
  test_publish: boolean;
}

export type DraftField = Exclude<keyof Draft, 'listing_id'>;
export type DraftErrors = Partial<Record<DraftField, string>>;

const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    text: { type: 'string', title: 'Text', description: 'What the agent works on.', minLength: 1 },
  },
  required: ['text'],
  additionalProperties: false,
};
const OUTPUT_SCHEMA = { type: 'string', description: 'The answer as plain text.' };
const toJson = (value: unknown): string => JSON.stringify(value, null, 2);

export function newDraft(): Draft {
  return {
    listing_id: bytesToHex(crypto.getRandomValues(new Uint8Array(16))),
    name: '',
    tagline: '',
    description: '',
    display_name: '',
    picture: '',
    tags: [],
    input_schema: toJson(INPUT_SCHEMA),
    output_schema: toJson(OUTPUT_SCHEMA),
    price_usdc: '',
    timeout_seconds: '60',
    min_timeout_seconds: '5',
    endpoint: '',
    test_task: 'Say hello',
    test_parameters: {},
    test_publish: false,
  };
}

/** A draft of an existing listing. Description fields are empty if the service does not have the description. */
export function draftOf(listing: OwnListing): Draft {
  const metadata = readMetadata(listing);
  return {
    ...newDraft(),
    ...(metadata && {
      name: metadata.name,
      tagline: metadata.tagline,
      description: metadata.description,
      display_name: metadata.display_name,
      picture: metadata.picture ?? '',
      endpoint: metadata.endpoint,
      input_schema: toJson(metadata.input_schema),
      output_schema: toJson(metadata.output_schema),
      test_parameters: exampleParameters(metadata.input_schema),
    }),
    tags: [...listing.tags, ...(metadata?.custom_tags ?? [])],
    price_usdc: String(listing.price_usdc),
    timeout_seconds: String(listing.timeout_seconds),
    min_timeout_seconds: String(listing.min_timeout_seconds),
  };
}

function readMetadata({ metadata }: OwnListing): AgentMetadata | null {
  if (metadata === null) return null;
  return AgentMetadata.safeParse(JSON.parse(metadata)).data ?? null;
}

/** The schema in a text; null if the text is not a JSON object. */
export function readSchema(text: string): Record<string, unknown> | null {
  try {
    return AgentMetadata.shape.input_schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** The description for `parseListingDraft`. */
export function toInput(draft: Draft, metadataUri = ''): ListingDraftInput {
  const { listing_id: _, test_task, test_parameters, test_publish, picture, ...fields } = draft;
  return {
    ...fields,
    ...(picture && { picture }),
    input_schema: readSchema(draft.input_schema) ?? {},
    output_schema: readSchema(draft.output_schema) ?? {},
    timeout_seconds: Number(draft.timeout_seconds),
    min_timeout_seconds: Number(draft.min_timeout_seconds),
    metadata_uri: metadataUri,
    test: { task: test_task, parameters: test_parameters, publish: test_publish ?? false },
  };
}

const TEXT_FIELDS = ['name', 'tagline', 'description', 'display_name', 'endpoint'] as const;

/** Faults by field. Of schemas, it only checks that they are JSON objects; their editor checks the rules. */
export function checkDraft(draft: Draft, config: MarketplaceConfig | undefined): DraftErrors {
  const errors: DraftErrors = {};
  for (const field of TEXT_FIELDS) {
    const { error } = AgentMetadata.shape[field].safeParse(draft[field]);
    if (draft[field] === '') errors[field] = 'is missing';
    else if (error) errors[field] = error.issues[0]!.message;
  }
  const pictureFault = draft.picture && findPictureFault(draft.picture);
  if (pictureFault) errors.picture = pictureFault;
  const { error } = AgentMetadata.shape.custom_tags.safeParse(draft.tags.filter((tag) => !isStandardTag(tag)));
  if (error) errors.tags = error.issues[0]!.message;
  else if (!draft.tags.some(isStandardTag))
    errors.tags = 'choose at least one of these; your own tags do not replace it';
  for (const field of ['input_schema', 'output_schema'] as const) {
    if (readSchema(draft[field]) === null) errors[field] = 'must be a JSON Schema object';
  }
  const price = priceFault(draft.price_usdc, config);
  if (price) errors.price_usdc = price;
  const longest = Number(draft.timeout_seconds);
  const shortest = Number(draft.min_timeout_seconds);
  const most = config?.max_timeout_seconds;
  if (!isSeconds(draft.timeout_seconds)) errors.timeout_seconds = 'must be a whole number of seconds, at least 1';
  else if (most !== undefined && longest > most) errors.timeout_seconds = `must be at most ${most}`;
  if (!isSeconds(draft.min_timeout_seconds))
    errors.min_timeout_seconds = 'must be a whole number of seconds, at least 1';
  else if (shortest > longest) errors.min_timeout_seconds = 'must be at most the longest timeout';
  if (draft.test_task.trim() === '') errors.test_task = 'is missing';
  return errors;
}

const isSeconds = (text: string): boolean => /^[1-9][0-9]{0,8}$/.test(text);

/** True if two drafts are equal for callers: unchanged values need no signature. */
export const isSame = (one: Draft, other: Draft): boolean => {
  const terms = ({ listing_id: _, test_task: _t, test_parameters: _p, test_publish: _s, ...rest }: Draft) =>
    JSON.stringify(rest);
  return terms(one) === terms(other);
};
