/**
 * A marketplace on a VM for benches: authorities for two relays, one agent, one caller with an API key of wide limits, and the two files of a relay
 * that has seen both, as the indexer and `keys.register` would have left them.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { MIGRATIONS, migrate } from '../../app/database/migrate.ts';
import { openDatabase } from '../../app/database/open.ts';
import { indexPath, ledgerPath } from '../../app/relay/config.ts';
import type { LedgerTables } from '../../app/relay/ledger/tables.ts';
import { createGrant, findGrant, initializeConfig } from '../../app/sdk/program/program.ts';
import { createApiKey, hashApiKey, keyIdOf } from '../../app/sdk/receipt/apiKey.ts';
import { hashMetadata } from '../../app/sdk/receipt/metadataHash.ts';
import { type AgentMetadata, encodeMetadata } from '../../app/sdk/wire/metadata.ts';
import { openIndex } from '../../indexer/open.ts';
import { emptyWorld, TERMS, TIMEOUT, USDC, type World } from '../../tests/harness/vm/world.ts';

/** Of one call, base units. */
const PRICE = 10_000n;
/** More than any bench spends. */
const PLENTY = 1_000_000n * USDC;

export interface BenchMarket {
  world: World;
  /** What a call costs, base units. */
  price: bigint;
  apiKey: string;
  agentId: string;
}

function describeAgent(endpoint: string, inputSchema: AgentMetadata['input_schema']): AgentMetadata {
  return {
    name: 'bench-agent',
    tagline: 'Answers at once',
    description: 'An agent for measurements.',
    display_name: 'Bench',
    custom_tags: [],
    input_schema: inputSchema,
    output_schema: { type: 'object', properties: {} },
    endpoint,
  };
}

/** Makes it in a fresh VM, and the relay's files in `dataDir`. */
export async function createMarket(
  dataDir: string,
  endpoint: string,
  inputSchema: AgentMetadata['input_schema'] = { type: 'object', properties: { language: { type: 'string' } } },
): Promise<BenchMarket> {
  const w = await emptyWorld('litesvm');
  const document = encodeMetadata(describeAgent(endpoint, inputSchema));
  const metadataHash = hashMetadata(document);
  const apiKey = createApiKey('test');
  const keyId = Buffer.from(keyIdOf(apiKey));
  const terms = { ...TERMS, price: PRICE, metadataHash: Buffer.from(metadataHash, 'hex') };
  const second = Keypair.generate();
  const relayAuthorities = [w.relay.publicKey, second.publicKey];
  await w.must([initializeConfig(w.configInput({ relayAuthorities }))], [w.vm.upgradeAuthority, w.admin]);
  await w.must([w.listInstruction({ terms })], [w.creator]);
  const limits = { perExecutionMax: PLENTY, periodMax: PLENTY, totalMax: PLENTY };
  w.vm.setWallet(w.caller.publicKey, w.usdcMint, PLENTY);
  await w.must([createGrant(w.grantInput(limits, keyId)), w.approveInstruction(PLENTY)], [w.caller]);
  await w.must([w.depositInstruction()], [w.caller]);
  for (const [name, key] of [['relay-authority', w.relay] as const, ['relay-authority-2', second] as const]) {
    await w.vm.airdrop(key.publicKey, 1_000_000_000_000n);
    writeFileSync(join(dataDir, `${name}.json`), JSON.stringify([...key.secretKey]), { mode: 0o600 });
  }

  const ledger = openDatabase<LedgerTables>(ledgerPath(dataDir));
  migrate(ledger.sqlite, MIGRATIONS.ledger);
  await ledger.db.insertInto('api_keys').values(keyRow(w, apiKey)).execute();
  const received = { metadata_hash: metadataHash, document: new TextDecoder().decode(document), received_ms: 0n };
  await ledger.db.insertInto('metadata').values(received).execute();
  ledger.close();
  await writeIndex(w, { path: indexPath(dataDir), metadataHash, keyId });
  return { world: w, price: PRICE, apiKey, agentId: w.listing.toBase58() };
}

/** The row of a key of the caller's. */
export function keyRow(w: World, apiKey: string) {
  return {
    key_hash: hashApiKey(apiKey),
    key_id: Buffer.from(keyIdOf(apiKey)).toString('hex'),
    wallet: w.caller.publicKey.toBase58(),
    name: 'bench',
    created_ms: 0n,
  };
}

async function writeIndex(
  w: World,
  { path, metadataHash, keyId }: { path: string; metadataHash: string; keyId: Uint8Array },
): Promise<void> {
  const index = openIndex(path);
  const listing = await w.read('AgentListing', w.listing);
  await index.db
    .insertInto('listings')
    .values({
      listing: w.listing.toBase58(),
      creator: listing.creator.toBase58(),
      listing_id: Buffer.from(w.listingId).toString('hex'),
      signing_key: listing.signingKey.toBase58(),
      payout: listing.payout.toBase58(),
      price: listing.price,
      timeout_seconds: BigInt(TIMEOUT),
      min_timeout_seconds: BigInt(listing.minTimeoutSeconds),
      tag_mask: BigInt(listing.tagMask),
      status: 'active',
      listing_version: BigInt(listing.listingVersion),
      metadata_hash: metadataHash,
      metadata_uri: TERMS.metadataUri,
      deposited: 0n,
      slashed: 0n,
      listed_at: listing.listedAt,
      returnable_at: null,
      collateral_returned: 0n,
      slot: 1n,
    })
    .execute();
  const address = findGrant(w.caller.publicKey, keyId);
  const grant = await w.read('KeyGrant', address);
  await index.db
    .insertInto('grants')
    .values({
      grant_address: address.toBase58(),
      wallet: w.caller.publicKey.toBase58(),
      key_id: Buffer.from(keyId).toString('hex'),
      per_execution_max: String(grant.perExecutionMax),
      period_max: String(grant.periodMax),
      total_max: String(grant.totalMax),
      period_seconds: BigInt(grant.periodSeconds),
      expires_at: grant.expiresAt,
      created_at: grant.createdAt,
      revoked: 0n,
      closed: 0n,
      execution_count: 0n,
      total_spent: '0',
      max_gas_lamports: BigInt(grant.maxGasLamports),
      slot: 1n,
    })
    .execute();
  index.close();
}
