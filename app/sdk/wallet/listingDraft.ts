/**
 * A creator's JSON description of one agent, which `createListing` and `updateListing` publish. It holds the fields of
 * the metadata document and the on-chain terms.
 */
import * as z from 'zod';
import { type Config, constants } from '../program/program.ts';
import { AgentMetadata, isStandardTag, STANDARD_TAGS, type StandardTag, tagMask } from '../wire/metadata.ts';
import { formatUsdc, parseUsdc } from '../wire/usdc.ts';
import { Refusal } from './refusal.ts';

const SECONDS_RULE = 'must be a whole number of seconds, at least 1';
const Seconds = z.int(SECONDS_RULE).min(1, SECONDS_RULE);

const Price = z
  .union([z.string(), z.number()], 'must be an amount of USDC such as 0.25')
  .transform((value, context) => {
    try {
      return parseUsdc(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
      return z.NEVER;
    }
  });

const ListingDraftSchema = AgentMetadata.omit({ custom_tags: true }).extend({
  /** 1 to 5 of the standard taxonomy; any others are custom tags. */
  tags: z
    .array(z.string())
    .refine((tags) => tags.some(isStandardTag), `must hold at least one standard tag: ${STANDARD_TAGS.join(', ')}`)
    .refine((tags) => tags.filter(isStandardTag).length <= constants.maxTags, 'must hold at most 5 standard tags'),
  price_usdc: Price,
  /** Longest timeout that a caller can ask for, and the default. */
  timeout_seconds: Seconds,
  min_timeout_seconds: Seconds.default(1),
  /** A second URL of the document, besides the marketplace's; at most 200 bytes. */
  metadata_uri: z.string().default(''),
  /**
   * Keypair file of the key that signs results. It is passed on unchanged, because only code with access to files can
   * use it.
   */
  signing_key: z.string().optional(),
  /** A request that the agent can complete, for the test before listing. `publish` shows it and its result publicly. */
  test: z
    .strictObject({
      task: z.string().min(1),
      parameters: z.record(z.string(), z.unknown()).default({}),
      publish: z.boolean().default(false),
    })
    .optional(),
});

/** The description before parsing. */
export type ListingDraftInput = z.input<typeof ListingDraftSchema>;

/** The description, parsed. */
export interface ListingDraft {
  metadata: AgentMetadata;
  /** Base units. */
  price: bigint;
  timeoutSeconds: number;
  minTimeoutSeconds: number;
  tagMask: number;
  metadataUri: string;
  /** As written; null if absent. */
  signingKeyPath: string | null;
  /** Null if absent. */
  test: { task: string; parameters: Record<string, unknown>; publish: boolean } | null;
}

/** Checks a description. Throws Refusal, which names every wrong field; `what` names the description. */
export function parseListingDraft(content: unknown, what: string): ListingDraft {
  const parsed = ListingDraftSchema.safeParse(content);
  if (!parsed.success) throw new Refusal(`${what} does not describe an agent:\n${z.prettifyError(parsed.error)}`);
  const { tags, price_usdc, timeout_seconds, min_timeout_seconds, metadata_uri, signing_key, test, ...metadata } =
    parsed.data;
  const custom = { custom_tags: tags.filter((tag) => !isStandardTag(tag)) };
  const document = AgentMetadata.safeParse({ ...metadata, ...custom });
  if (!document.success) throw new Refusal(`${what} does not describe an agent:\n${z.prettifyError(document.error)}`);
  return {
    metadata: document.data,
    price: price_usdc,
    timeoutSeconds: timeout_seconds,
    minTimeoutSeconds: min_timeout_seconds,
    tagMask: tagMask(tags.filter((tag): tag is StandardTag => isStandardTag(tag))),
    metadataUri: metadata_uri,
    signingKeyPath: signing_key ?? null,
    test: test ?? null,
  };
}

/**
 * The collateral that the config's tiers require for this price. Throws Refusal if the chain accepts no listing at this
 * price.
 */
export function depositFor(
  price: bigint,
  { minPrice, tiers, tierCount }: Pick<Config, 'minPrice' | 'tiers' | 'tierCount'>,
): bigint {
  if (price < minPrice) {
    throw new Refusal(`The price ${formatUsdc(price)} USDC is below the minimum, ${formatUsdc(minPrice)} USDC.`);
  }
  const used = tiers.slice(0, tierCount);
  const tier = used.find(({ maxPrice }) => price <= maxPrice);
  if (tier) return tier.deposit;
  const highest = formatUsdc(used.at(-1)?.maxPrice ?? 0n);
  throw new Refusal(`The price ${formatUsdc(price)} USDC is above the maximum, ${highest} USDC.`);
}
