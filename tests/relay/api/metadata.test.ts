/** POST /v1/metadata: stores the exact bytes that a listing commits to, and rejects content that could harm readers. */
import { createHash } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import canonicalize from 'canonicalize';
import { expect } from 'chai';
import { chunks } from '../../../app/process/chunks.ts';
import { hashMetadata } from '../../../app/sdk/receipt/metadataHash.ts';
import { encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { metadataOf, newAddress } from '../../harness/edge/rows.ts';
import { type Json, ofA } from './schemas/accept.ts';
import { sessionsOf } from './sessions.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const STRANGER = '203.0.113.1';

describe('POST /v1/metadata', () => {
  const world = useWorld();

  const post = (bytes: Uint8Array | string) => world.post('/v1/metadata', bytes);
  const isIn = async (table: 'documents' | 'pending_metadata', hash: string): Promise<boolean> =>
    (await world.ledger.selectFrom(table).where('metadata_hash', '=', hash).select('metadata_hash').execute()).length >
    0;
  const isStored = (hash: string) => isIn('documents', hash);
  /** Signs in and returns the session's token. */
  const signIn = async (wallet = Keypair.generate()) => (await sessionsOf(() => world).signIn(wallet)).token;

  it('stores the bytes and returns their SHA-256, also for repeated uploads', async () => {
    const bytes = encodeMetadata(metadataOf({ name: 'Zürich ☀', description: 'Two lines.\n\tOf text.' }));
    const metadata_hash = createHash('sha256').update(bytes).digest('hex');
    for (let n = 0; n < 2; n += 1) {
      const { status, json } = await post(bytes);
      expect(status, JSON.stringify(json)).to.equal(200);
      expect(json).to.deep.equal({ metadata_hash });
    }
    const stored = world.ledger.selectFrom('documents').select('document').where('metadata_hash', '=', metadata_hash);
    expect((await stored.executeTakeFirstOrThrow()).document).to.equal(Buffer.from(bytes).toString('utf8'));
  });

  it('hides a document until a listing carries its hash, then shows it at once, and never its endpoint', async () => {
    const endpoint = 'http://127.0.0.1:4242/secret-path/execute';
    const bytes = encodeMetadata(metadataOf({ name: 'shown-later', endpoint }));
    await post(bytes);
    expect((await world.get('/v1/agents')).json.total).to.equal(0);
    const listing = await world.addListing({ metadata_hash: hashMetadata(bytes) }, null);
    expect((await world.get(`/v1/agents/${listing}`)).json.name).to.equal('shown-later');
    for (const path of ['/v1/agents', `/v1/agents/${listing}`])
      expect((await world.get(path)).text).to.not.include('secret-path');
  });

  it('accepts a document at every limit', async () => {
    let deepest: Json = { type: 'object', properties: { a: {} } };
    for (let depth = 2; depth < 30; depth += 1) deepest = ofA(deepest);
    const metadata = metadataOf({
      name: 'n'.repeat(64),
      tagline: 't'.repeat(140),
      description: 'd'.repeat(8000),
      display_name: 'c'.repeat(64),
      custom_tags: ['aa', '0-9', 'a'.repeat(24), 'b2', '--'],
      input_schema: deepest,
      output_schema: {
        title: 't',
        description: 'd',
        default: null,
        type: ['array', 'null'],
        items: { type: 'number' },
      },
      endpoint: 'https://agents.example.com:8443/v2/my-agent/execute',
    });
    expect((await post(encodeMetadata(metadata))).status).to.equal(200);
  });

  const text = JSON.stringify(metadataOf());
  const OTHER_BYTES: [name: string, body: string][] = [
    ['sorted names', canonicalize(metadataOf()) ?? ''],
    ['white space', JSON.stringify(metadataOf({ name: 'spaced' }), null, 2)],
    ['a line break at the end', `${text}\n`],
    ['a needless escape', text.replace('csv', '\\u0063sv')],
    ['a number written otherwise', text.replace('"properties":{}', '"maxProperties":1.0,"properties":{}')],
  ];
  it('accepts other bytes of the same document, and hashes them as received', async () => {
    for (const [name, body] of OTHER_BYTES) {
      const { status, json } = await post(body);
      expect(status, `${name}: ${JSON.stringify(json)}`).to.equal(200);
      expect(json.metadata_hash, name).to.equal(createHash('sha256').update(body).digest('hex'));
    }
  });

  it('returns the properties of a schema in their written order', async () => {
    const properties = { zeta: {}, alpha: {}, Mid: { type: 'object', properties: { b: {}, a: {} } } };
    const bytes = encodeMetadata(metadataOf({ input_schema: { type: 'object', properties, required: ['zeta'] } }));
    await post(bytes);
    const listing = await world.addListing({ metadata_hash: hashMetadata(bytes) }, null);
    const { input_schema } = (await world.get(`/v1/agents/${listing}`)).json;
    expect(JSON.stringify(input_schema)).to.equal(JSON.stringify({ type: 'object', properties, required: ['zeta'] }));
  });

  const string = { type: 'string' };
  const REFUSED: [name: string, changes: Record<string, unknown>, says: string][] = [
    ['a long name', { name: 'n'.repeat(65) }, '"name" must be 1 to 64 characters'],
    ['a name on two lines', { name: 'a\nb' }, '"name" must be 1 to 64 characters on one line'],
    ['a long description', { description: 'd'.repeat(8001) }, '"description"'],
    ['a description with control characters', { description: 'a\u0000b' }, '"description" must not contain control'],
    ['six custom tags', { custom_tags: ['t1', 't2', 't3', 't4', 't5', 't6'] }, '"custom_tags" must be at most 5'],
    ['a tag with a comma', { custom_tags: ['a,b'] }, '"custom_tags.0" must be 2 to 24'],
    ['a repeated tag', { custom_tags: ['aa', 'aa'] }, '"custom_tags" must not repeat'],
    ['a standard tag among the custom ones', { custom_tags: ['sql'] }, '"custom_tags" must not contain standard tags'],
    ['an endpoint that ends otherwise', { endpoint: 'https://a.example/run' }, '"endpoint" must be a full http'],
    ['an endpoint with a query', { endpoint: 'https://a.example/execute?x=1' }, '"endpoint" must be'],
    ['an endpoint with a password', { endpoint: 'https://u:p@a.example/execute' }, '"endpoint" must be'],
    ['an endpoint not in its normal form', { endpoint: 'https://A.example/x/../execute' }, '"endpoint" must be'],
    ['an unknown field', { price: 1 }, '"price"'],
    ['no input schema', { input_schema: undefined }, '"input_schema" is missing'],
    ['an input schema of no object', { input_schema: string }, 'input_schema.type must be "object"'],
    [
      'a schema over 32 KiB',
      { output_schema: { title: 'd'.repeat(32 * 1024) } },
      'output_schema must be at most 32768',
    ],
  ];
  it('rejects: documents with a field that does not fit, and stores nothing', async () => {
    for (const [name, changes, says] of REFUSED) {
      const bytes = Buffer.from(JSON.stringify({ ...metadataOf(), ...changes }));
      const { outcome, json } = await post(bytes);
      expect([outcome, json.error.execution_id], name).to.deep.equal(['400 invalid_request', null]);
      expect(json.error.message, name).to.include(says);
      expect(await isStored(hashMetadata(bytes)), name).to.equal(false);
    }
  });

  it('rejects: schemas, with every fault of both in the message and in details.issues', async () => {
    const metadata = metadataOf({ input_schema: ofA({ foo: 1, bar: 2 }), output_schema: { if: {} } });
    const { status, json } = await world.post('/v1/metadata', encodeMetadata(metadata));
    expect([status, json.error.code]).to.deep.equal([400, 'invalid_request']);
    const paths = ['input_schema.properties.a.foo', 'input_schema.properties.a.bar', 'output_schema.if'];
    expect(json.error.details.issues.map(({ path }: { path: string }) => path)).to.deep.equal(paths);
    for (const path of paths) expect(json.error.message).to.include(path);
    expect(json.error.message).to.include('Allowed: type, enum, const');
  });

  it('rejects: bodies over 64 KiB', async () => {
    expect((await post('x'.repeat(64 * 1024 + 1))).outcome).to.equal('413 payload_too_large');
  });

  it('rejects: http endpoints when private endpoints are not allowed', async () => {
    const { config } = world.deps;
    world.deps.config = { ...config, allowPrivateEndpoints: false };
    const { status, json } = await post(encodeMetadata(metadataOf({ endpoint: 'http://a.example/execute' })));
    const https = await post(encodeMetadata(metadataOf({ endpoint: 'https://a.example/execute' })));
    world.deps.config = config;
    expect([status, https.status]).to.deep.equal([400, 200]);
    expect(json.error.message).to.include('must be an https URL');
  });

  describe('unlisted documents', () => {
    const documentOf = (name: string) => encodeMetadata(metadataOf({ name }));
    const addRunning = (metadata_hash: string) =>
      world.addJournal({ wallet: newAddress(), listing: newAddress(), state: 'dispatched', metadata_hash });
    it('are kept for 24 hours; documents of listings and unfinished executions are kept without limit', async () => {
      const now = world.state.nowMs;
      const documents = ['expired', 'waiting', 'listed', 'delisted', 'in-use'].map(documentOf);
      const [, waiting, listed, delisted, inUse] = documents.map(hashMetadata);
      for (const bytes of documents)
        await world.addDocument(bytes, hashMetadata(bytes) === waiting ? now - DAY_MS : now - DAY_MS - 1);
      await world.addListing({ metadata_hash: listed! }, null);
      await world.addListing({ metadata_hash: delisted!, status: 'delisted' }, null);
      await addRunning(inUse!);
      await post(documentOf('another'));
      const stored = await Promise.all(documents.map((bytes) => isStored(hashMetadata(bytes))));
      expect(stored).to.deep.equal([false, true, true, true, true]);
    });

    /** A document received at this time that no listing has named yet. */
    async function addPending(
      bytes: Uint8Array,
      received: number,
      network: string,
      wallet = '',
      is_known = 0n,
    ): Promise<string> {
      const row = { metadata_hash: hashMetadata(bytes), received_ms: BigInt(received) };
      await world.addDocument(bytes, received);
      await world.ledger
        .insertInto('pending_metadata')
        .values({ ...row, wallet, network, is_known })
        .execute();
      return row.metadata_hash;
    }

    it('wait for 24 hours, and are dropped with the last of their posters', async () => {
      const now = world.state.nowMs;
      const expired = await addPending(documentOf('waited too long'), now - DAY_MS - 1, STRANGER);
      const waiting = await addPending(documentOf('waits'), now - DAY_MS, STRANGER);
      await post(documentOf('comes'));
      expect([await isIn('pending_metadata', expired), await isStored(expired)]).to.deep.equal([false, false]);
      expect([await isIn('pending_metadata', waiting), await isStored(waiting)]).to.deep.equal([true, true]);
      const twice = documentOf('of two posters');
      await addPending(twice, now - DAY_MS - 1, STRANGER);
      await addPending(twice, now, '203.0.113.2');
      await post(documentOf('comes after it'));
      expect(await isStored(hashMetadata(twice))).to.equal(true);
    });

    it('are available at once when a listing or an unfinished execution needs them', async () => {
      const listed = documentOf('needed by a listing');
      await world.addListing({ metadata_hash: hashMetadata(listed) }, null);
      const running = documentOf('needed by an execution');
      await addRunning(hashMetadata(running));
      for (const bytes of [listed, running]) {
        await post(bytes);
        expect(await isStored(hashMetadata(bytes))).to.equal(true);
        expect(await isIn('pending_metadata', hashMetadata(bytes))).to.equal(false);
      }
    });

    it('are limited to the last 20 of each wallet, and replace only documents of that wallet', async () => {
      const [mine, other] = [await signIn(), await signIn()];
      const send = (bytes: Uint8Array, key?: string) =>
        world.post('/v1/metadata', bytes, key === undefined ? {} : { key });
      const theirs = documentOf("another wallet's");
      await send(theirs, other);
      for (let n = 0; n <= 20; n += 1) {
        world.state.nowMs += 1;
        expect((await send(documentOf(`mine-${n}`), mine)).status).to.equal(200);
      }
      const isKept = (name: string) => isStored(hashMetadata(documentOf(name)));
      const kept = await Promise.all(['mine-0', 'mine-1', 'mine-20'].map(isKept));
      expect(kept).to.deep.equal([false, true, true]);
      expect(await isStored(hashMetadata(theirs))).to.equal(true);
    });

    it("never replace a wallet's documents when strangers upload without a session", async () => {
      const mine = documentOf('mine among strangers');
      await world.post('/v1/metadata', mine, { key: await signIn() });
      const oldest = await addPending(documentOf('oldest of strangers'), world.state.nowMs - 5_000, STRANGER);
      const received_ms = BigInt(world.state.nowMs - 1_000);
      const flood = Array.from({ length: 500 }, (_, n) => ({
        metadata_hash: `of strangers ${n}`,
        network: `${n >> 1}`,
      }));
      const rows = flood.map((row) => ({ ...row, received_ms, wallet: '', is_known: 0n }));
      await world.ledger.insertInto('pending_metadata').values(rows).execute();
      expect((await post(documentOf('one more'))).status).to.equal(200);
      expect([await isStored(oldest), await isStored(hashMetadata(mine))]).to.deep.equal([false, true]);
      const left = world.ledger.selectFrom('pending_metadata').select('network').where('wallet', '=', '');
      expect(await left.execute()).to.have.length(500);
    });

    it('of unknown wallets evict each other, first those of the address with the most', async () => {
      const now = world.state.nowMs;
      const rows = Array.from({ length: 5_000 }, (_, n) => ({
        metadata_hash: `flood ${n}`,
        received_ms: BigInt(now - 1_000 + (n % 7)),
        wallet: `wallet ${n % 250}`,
        network: n < 3 ? 'fewer' : 'most',
        is_known: 0n,
      }));
      for (const part of chunks(rows, 1_000)) await world.ledger.insertInto('pending_metadata').values(part).execute();
      const known = await addPending(documentOf('of a creator'), now - 5_000, 'most', newAddress(), 1n);
      const oldest = await addPending(documentOf('oldest of few'), now - 5_000, 'fewer', newAddress());
      await world.post('/v1/metadata', documentOf('one more of a wallet'), { key: await signIn() });
      expect([await isStored(known), await isStored(oldest)]).to.deep.equal([true, true]);
      const left = world.ledger.selectFrom('pending_metadata').select('network').where('is_known', '=', 0n);
      const all = await left.where('wallet', '<>', '').execute();
      expect(all.length).to.equal(5_000);
      expect(all.filter(({ network }) => network === 'fewer')).to.have.length(4);
      const creator = Keypair.generate();
      await world.addListing({ creator: creator.publicKey.toBase58() });
      await world.post('/v1/metadata', documentOf('one more of a creator'), { key: await signIn(creator) });
      const posted = world.ledger.selectFrom('pending_metadata').select('is_known');
      const row = await posted.where('metadata_hash', '=', hashMetadata(documentOf('one more of a creator'))).execute();
      expect(row).to.deep.equal([{ is_known: 1n }]);
    });

    it('are limited to the last 20 of each network when uploaded without a session', async () => {
      const { config } = world.deps;
      world.deps.config = { ...config, trustProxy: 1 };
      const send = async (name: string, from: string) => {
        world.state.nowMs += 1;
        const headers = { 'x-forwarded-for': from };
        expect((await world.post('/v1/metadata', documentOf(name), { headers })).status).to.equal(200);
      };
      const networksOf = async (name: string) => {
        const pending = world.ledger.selectFrom('pending_metadata').select('network').where('wallet', '=', '');
        const rows = await pending.where('metadata_hash', '=', hashMetadata(documentOf(name))).execute();
        return rows.map((row) => row.network).sort();
      };
      try {
        await world.ledger.deleteFrom('pending_metadata').execute();
        await send('of another', '203.0.113.7');
        // All addresses of one IPv6 network count as one. It also uploads a document of another network.
        await send('of another', '2001:db8:0:1::ffff');
        for (let n = 0; n <= 20; n += 1) await send(`stranger's ${n}`, `2001:db8:0:1::${n + 1}`);
        expect(await networksOf('of another')).to.deep.equal(['203.0.113.7']);
        expect(await networksOf("stranger's 0")).to.deep.equal([]);
        for (let n = 1; n <= 20; n += 1) expect(await networksOf(`stranger's ${n}`)).to.have.length(1);
        await send('of a neighbour', '2001:db8:0:2::1');
        expect(await networksOf('of a neighbour')).to.have.length(1);
        expect(await networksOf("stranger's 1")).to.have.length(1);
      } finally {
        world.deps.config = config;
      }
    });

    it('rejects: an ended session, and does not accept an API key as a session', async () => {
      const key = await world.addKey();
      const ended = await world.post('/v1/metadata', documentOf('x'), { key: 'ended' });
      expect(ended.outcome).to.equal('401 unauthorized');
      expect((await world.post('/v1/metadata', documentOf('x'), { key: key.apiKey })).status).to.equal(200);
    });
  });
});
