/**
 * Lists the demo agents with the functions of `npm run cli -- listing`. Each has its FILE.json in
 * `DATA_DIR/demo/listings`, its creator's wallet and its signing key, like any agent.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection, PublicKey } from '@solana/web3.js';
import { readListingFile } from '../cli/listingFile.ts';
import { loadSigningKey } from '../sdk/creator/signingKey.ts';
import { type AgentListing, decodeOwn, findListing } from '../sdk/program/program.ts';
import { hashMetadata } from '../sdk/receipt/metadataHash.ts';
import type { ListingDraft, ListingDraftInput } from '../sdk/wallet/listingDraft.ts';
import { createListing, updateListing } from '../sdk/wallet/listings.ts';
import type { Marketplace } from '../sdk/wallet/marketplace.ts';
import { ask, clientOf } from '../sdk/wallet/service.ts';
import { keypairSigner } from '../sdk/wallet/signer.ts';
import { changeStatus } from '../sdk/wallet/upkeep.ts';
import { encodeMetadata } from '../sdk/wire/metadata.ts';
import { type DemoAgent, demoAgents } from './creators/definitions.ts';
import { endpointOf, signingKeyPath } from './demoServers.ts';
import type { Identities } from './identities.ts';

export interface LocalAgent {
  definition: DemoAgent;
  /** The listing's address. It follows from the creator and the agent's name, and is the same on every chain. */
  agentId: PublicKey;
  creator: PublicKey;
  /** As on-chain when the network started; null if not listed yet. */
  listing: AgentListing | null;
}

/** The demo agents, each with its listing if this chain has one. */
export async function readAgents(connection: Connection, identities: Identities): Promise<LocalAgent[]> {
  const agents = demoAgents.map((definition) => {
    const creator = identities.creators[definition.creator].publicKey;
    return { definition, creator, agentId: findListing(creator, listingIdOf(definition.name)) };
  });
  const accounts = await connection.getMultipleAccountsInfo(agents.map(({ agentId }) => agentId));
  return agents.map((agent, index) => {
    const account = accounts[index];
    return { ...agent, listing: decodeOwn('AgentListing', account) };
  });
}

/** True if the on-chain listing equals the one for this port, so no transaction is needed. */
export function isListedAs(agent: LocalAgent, port: number | undefined, demoDir: string): boolean {
  if (!agent.listing || port === undefined) return false;
  const { metadata } = describeAgent(agent.definition, port, demoDir);
  return hashMetadata(encodeMetadata(metadata)) === Buffer.from(agent.listing.metadataHash).toString('hex');
}

/**
 * Lists a new agent, and updates a listing that differs. Otherwise posts its description again, in case the marketplace
 * has lost it. Then pauses `sandbox-paused`.
 */
export async function publishAgent(
  marketplace: Marketplace,
  agent: LocalAgent,
  options: { identities: Identities; port: number; demoDir: string },
): Promise<void> {
  const { identities, port, demoDir } = options;
  const { definition, agentId } = agent;
  const wallet = keypairSigner(identities.creators[definition.creator]);
  const draft = describeAgent(definition, port, demoDir);
  if (!agent.listing) {
    const signingKey = loadSigningKey(signingKeyPath(demoDir, definition.name));
    const listingId = listingIdOf(definition.name);
    await createListing(marketplace, { wallet, signingKey, draft, listingId });
  } else if (!isListedAs(agent, port, demoDir)) {
    await updateListing(marketplace, { wallet, agentId, draft });
  } else {
    await ask(marketplace, () =>
      clientOf(marketplace).request('postMetadata', { body: encodeMetadata(draft.metadata) }),
    );
  }
  const isPaused = agent.listing?.status === 'paused';
  if (definition.behaviour === 'paused' && !isPaused) {
    await changeStatus(marketplace, { wallet, agentId, status: 'paused' });
  }
}

/** Writes the agent's FILE.json and reads it as the CLI does. */
function describeAgent(definition: DemoAgent, port: number, demoDir: string): ListingDraft {
  const { name, tagline, description, tags, price, timeoutSeconds, minTimeoutSeconds, example } = definition;
  const content: ListingDraftInput = {
    name,
    tagline,
    description,
    display_name: definition.creator === 'a' ? 'Demo Creator A' : 'Demo Creator B',
    tags,
    price_usdc: price,
    timeout_seconds: timeoutSeconds,
    min_timeout_seconds: minTimeoutSeconds,
    input_schema: { ...definition.inputSchema },
    output_schema: { ...definition.outputSchema },
    endpoint: endpointOf(port),
    signing_key: signingKeyPath(demoDir, name),
    test: { ...example, publish: true },
  };
  const directory = join(demoDir, 'listings');
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${name}.json`);
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  return readListingFile(path);
}

function listingIdOf(name: string): Uint8Array {
  return createHash('sha256').update(`agent-marketplace:demo:${name}`).digest().subarray(0, 16);
}
