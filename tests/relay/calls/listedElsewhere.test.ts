/**
 * Listings made by the program alone, without the relay, on the real node. They are shown and executable only once
 * anyone has uploaded the bytes that match their hash.
 */
import { randomBytes } from 'node:crypto';
import { type Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { generateSigningKey, signingKeyAddress } from '../../../app/sdk/creator/creator.ts';
import { findListing, listAgent, updateListing } from '../../../app/sdk/program/program.ts';
import { hashMetadata } from '../../../app/sdk/receipt/metadataHash.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { provePossession } from '../../../app/sdk/wallet/upkeep.ts';
import { type AgentMetadata, encodeMetadata, tagMask } from '../../../app/sdk/wire/metadata.ts';
import { metadataOf } from '../../harness/edge/rows.ts';
import { until } from '../../harness/edge/until.ts';
import { type Answer, goodAnswer, request, useMarketplace } from '../../harness/node/marketplace.ts';

const PRICE = 400_000n;
const FEE = 4_000n;
const SEEN_WITHIN_MS = 60_000;

describe('a listing that was made without the relay', () => {
  let signingKey: Uint8Array;
  let agentId: string;
  let document: AgentMetadata;

  const market = useMarketplace();
  before(async () => {
    signingKey = generateSigningKey();
    market.setBehaviour((body, _response, reply) => reply(goodAnswer(signingKey, body.execution_id, 'served')));
    document = metadataOf({ name: 'listed-elsewhere', endpoint: market.endpoint });
  });

  const termsOf = (metadata: AgentMetadata) => ({
    price: PRICE,
    timeoutSeconds: 60,
    minTimeoutSeconds: 1,
    tagMask: tagMask(['code']),
    metadataHash: Buffer.from(hashMetadata(encodeMetadata(metadata)), 'hex'),
    metadataUri: '',
  });

  const get = (path: string) => request(market.relay.url, path);
  const execute = () =>
    request(market.relay.url, `/v1/agents/${agentId}/execute`, {
      apiKey: market.callers[0]!.apiKey,
      body: { task: 'x' },
    });
  const post = async (bytes: Uint8Array) =>
    fetch(`${market.relay.url}/v1/metadata`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(bytes),
    });

  /** Waits until the API shows the listing in this state. */
  const untilSeen = (isSo: (answer: Answer) => boolean) =>
    until('the listing is seen', async () => isSo(await get(`/v1/agents/${agentId}`)), SEEN_WITHIN_MS);

  async function listed(): Promise<string[]> {
    const { body } = await get('/v1/agents?limit=100');
    return body.agents.map((agent: { agent_id: string }) => agent.agent_id);
  }

  async function isHidden(): Promise<void> {
    const before = await market.balances();
    const refused = await execute();
    expect([refused.status, refused.body.error.code]).to.deep.equal([503, 'metadata_missing']);
    expect(refused.headers.get('retry-after')).to.equal('30');
    expect(await listed()).to.not.include(agentId);
    expect(await market.balances()).to.deep.equal(before);
  }

  it('is hidden and not executable while its description is unknown', async () => {
    const { creator, creatorUsdc } = market;
    const listingId = randomBytes(16);
    const listing = findListing(creator.publicKey, listingId);
    agentId = listing.toBase58();
    const instruction = listAgent({
      creator: creator.publicKey,
      payer: creator.publicKey,
      listingId,
      signingKey: new PublicKey(signingKeyAddress(signingKey)),
      possession: provePossession(listing, signingKey),
      source: creatorUsdc,
      payout: creatorUsdc,
      usdcMint: market.usdcMint,
      maxDeposit: 1_000_000_000n,
      terms: termsOf(document),
    });
    await send([instruction], creator);
    await untilSeen(({ status, body }) => status === 503 && body.error.code === 'metadata_missing');
    await isHidden();
  });

  it('stays hidden when other bytes arrive, even if they differ by one space', async () => {
    expect((await post(encodeMetadata({ ...document, tagline: 'Another.' }))).status).to.equal(200);
    expect((await post(Buffer.from(` ${new TextDecoder().decode(encodeMetadata(document))}`))).status).to.equal(200);
    await isHidden();
  });

  it('is listed and executable once anyone has sent the bytes, and its creator is paid', async () => {
    expect((await post(encodeMetadata(document))).status).to.equal(200);
    expect((await get(`/v1/agents/${agentId}`)).body).to.include({
      name: 'listed-elsewhere',
      price_per_call_usdc: 0.4,
    });
    expect(await listed()).to.include(agentId);
    const before = await market.balances();
    const answer = await execute();
    expect([answer.status, answer.body.result]).to.deep.equal([200, 'served']);
    expect(await market.balances()).to.deep.equal({
      callers: [before.callers[0]! - PRICE, before.callers[1]],
      creator: before.creator + PRICE - FEE,
      treasury: before.treasury + FEE,
    });
  });

  it('is hidden again when its description changes elsewhere, until the new bytes are known', async () => {
    const next = { ...document, name: 'renamed-elsewhere' };
    const { creator, creatorUsdc } = market;
    const change = { creator: creator.publicKey, listing: new PublicKey(agentId), payout: creatorUsdc };
    await send([updateListing({ ...change, maxDeposit: 1_000_000_000n, terms: termsOf(next) })], creator);
    await untilSeen(({ status }) => status === 503);
    await isHidden();
    expect((await post(encodeMetadata(next))).status).to.equal(200);
    expect((await get(`/v1/agents/${agentId}`)).body.name).to.equal('renamed-elsewhere');
    expect((await execute()).status).to.equal(200);
  });

  function send(instructions: Parameters<typeof sendTransaction>[1], signer: Keypair): Promise<string> {
    return sendTransaction(market.node.connection, instructions, keypairSigner(signer));
  }
});
