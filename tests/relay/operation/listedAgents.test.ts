/**
 * Lists and searches of agents join the index with the documents of the ledger. The tests compare them with a plain list
 * that is filtered and sorted for each request, for random listings, changes and requests.
 */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { CompiledQuery } from 'kysely';
import { chunks } from '../../../app/process/chunks.ts';
import { wholeTurn } from '../../../app/process/turn.ts';
import { creatorsNamed, findAgents } from '../../../app/relay/agents/search.ts';
import { createUndocumented } from '../../../app/relay/agents/undocumented.ts';
import { hashMetadata } from '../../../app/sdk/receipt/metadataHash.ts';
import { AGENT_SORTS } from '../../../app/sdk/wire/choices.ts';
import { type AgentMetadata, encodeMetadata, type StandardTag, tagMask } from '../../../app/sdk/wire/metadata.ts';
import { AgentsQuery } from '../../../app/sdk/wire/wire.ts';
import { writeAgents } from '../../../indexer/apply/agents.ts';
import { createRows, metadataOf, newAddress } from '../../harness/edge/rows.ts';
import { until } from '../../harness/edge/until.ts';
import { onPostgres } from '../../harness/postgres.ts';
import { createRandom } from '../../harness/random.ts';
import { useTables } from '../../harness/tables.ts';

/** Each database has worlds of its own. */
const SEEDS = onPostgres ? [2, 3] : [0, 1];
const LISTINGS = 40;
const CHANGES = 150;
const QUESTIONS = 100;
/** More than a search finds before it sorts. */
const MANY = 1_300;
const STANDARD = ['data', 'code', 'research'] as const;
const CUSTOM = ['csv', 'csv-files', 'tax', 'sandbox'];
const NAMES = 'CSV analyst|Café Tax|tax-auditor|Straße data|analyst of charts|東京 map|ﬁne ٣ маршрут'.split('|');
const TEXTS = [
  ...'csv CS cafe data da res strasse straße 東 zzz ... aard fine ٣ МАРШ @studio #csv tax*'.split(' '),
  ...['tax anal', 'studio 1', 'studio 17', '17 tax', 'a an ana', 'csv" OR "tax', "tax' | 'csv", ':* & !tax'],
];

/** A listing with the data of the index and its document. */
interface Plain {
  listing: string;
  creator: string;
  verified: boolean;
  status: 'active' | 'paused' | 'delisted';
  price: number;
  tags: StandardTag[];
  listedAt: number;
  total: number;
  rate: number;
  /** Null while the document is missing. */
  document: AgentMetadata | null;
}

/** The words of a text as the API's description defines them: lower case, without accents. */
const plainWords = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

const begin = (own: string[], text: string) => {
  const asked = plainWords(text);
  return asked.length > 0 && asked.every((word) => own.some((one) => one.startsWith(word)));
};

function isFound({ listing, creator, tags, document }: Plain, q: string): boolean {
  if (q === listing || q === creator) return true;
  const { name, tagline, display_name, custom_tags } = document as AgentMetadata;
  return begin([...plainWords([name, tagline, display_name, ...custom_tags].join(' ')), ...tags], q);
}

function pageOf(all: Iterable<Plain>, query: AgentsQuery) {
  const matching = [...all].filter((agent) => {
    if (agent.status !== 'active' || !agent.document) return false;
    const own: string[] = [...agent.tags, ...agent.document.custom_tags];
    return (
      (query.tags ?? []).every((tag) => own.includes(tag)) &&
      (query.q === undefined || isFound(agent, query.q)) &&
      (!query.verified_only || agent.verified) &&
      (query.creator === undefined || agent.creator === query.creator) &&
      agent.total >= (query.min_executions ?? 0) &&
      agent.rate >= (query.min_success_rate ?? 0)
    );
  });
  const keys: Record<AgentsQuery['sort'], (agent: Plain) => number> = {
    total_executions: ({ total }) => -total,
    success_rate: ({ rate }) => -rate,
    price_asc: ({ price }) => price,
    price_desc: ({ price }) => -price,
    created_at: ({ listedAt }) => -listedAt,
    best: ({ total, rate, document }) =>
      (document?.custom_tags.includes('sandbox') ? 1 : 0) - (Math.round(rate * total) + 5) / (total + 10),
  };
  const key = keys[query.sort];
  matching.sort((one, other) => key(one) - key(other) || (one.listing < other.listing ? -1 : 1));
  const { offset, limit } = query;
  return { agents: matching.slice(offset, offset + limit).map(({ listing }) => listing), total: matching.length };
}

describe('lists of agents', () => {
  const tables = useTables({ each: true });

  const readerOf = () => ({ views: tables.views.db, undocumented: createUndocumented(tables.views.db) });

  /** Replaces the stored listing with its present state. */
  async function write(agent: Plain, isHere: boolean): Promise<void> {
    const { index, ledger } = tables;
    for (const table of ['listings', 'agent_statistics'] as const)
      await index.db.deleteFrom(table).where('listing', '=', agent.listing).execute();
    const bytes = encodeMetadata(agent.document ?? metadataOf({ name: randomBytes(8).toString('hex') }));
    const { addListing, addDocument } = createRows(index.db, ledger.db, { nowMs: 1 });
    if (isHere) await addDocument(bytes);
    await addListing(
      {
        listing: agent.listing,
        creator: agent.creator,
        price: BigInt(agent.price),
        tag_mask: BigInt(tagMask(agent.tags)),
        status: agent.status,
        metadata_hash: hashMetadata(bytes),
        listed_at: BigInt(agent.listedAt),
      },
      null,
    );
    if (agent.total > 0) {
      await index.db
        .insertInto('agent_statistics')
        .values({
          listing: agent.listing,
          total_executions: BigInt(agent.total),
          successful_executions: BigInt(Math.round(agent.rate * agent.total)),
          success_rate: agent.rate,
          avg_execution_time_ms: 1n,
          dispute_count: 0n,
          earned: 0n,
          ended_executions: 1n,
          timed_executions: 0n,
          total_time_ms: 0n,
        })
        .execute();
    }
    await writeAgents(index.db, [agent.listing], []);
  }

  async function forget(listing: string): Promise<void> {
    for (const table of ['listings', 'agent_statistics'] as const)
      await tables.index.db.deleteFrom(table).where('listing', '=', listing).execute();
    await writeAgents(tables.index.db, [listing], []);
  }

  it('leave out a listing without its document, whatever a slower request has read', async () => {
    const [one, other] = [agentOf(1), agentOf(2)];
    await write(one, false);
    /** Statements until one whose answer is late. */
    let left = 0;
    let release = null as (() => void) | null;
    const slow = tables.views.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => result,
    });
    const executor = slow.getExecutor();
    const execute = executor.executeQuery.bind(executor);
    executor.executeQuery = async <R>(query: CompiledQuery) => {
      const answer = await execute<R>(query);
      left -= 1;
      if (left === 0)
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      return answer;
    };
    const undocumented = createUndocumented(slow);
    expect(await undocumented.read()).to.deep.equal([one.listing]);
    await write(one, true);
    // The second statement finds that the document has arrived.
    left = 2;
    const early = undocumented.read();
    await until('the answer is late', async () => release !== null);
    await write({ ...agentOf(3), listing: one.listing }, false);
    await write(other, false);
    const late = undocumented.read();
    for (let turns = 0; turns < 50; turns += 1) await wholeTurn();
    release!();
    await early;
    expect(await late).to.have.members([one.listing, other.listing]);
    expect(await undocumented.read()).to.have.members([one.listing, other.listing]);
  });

  for (const seed of SEEDS) {
    it(`equal a plain list after random changes of seed ${seed}`, async () => {
      const random = createRandom(seed);
      const plain = new Map<string, Plain>();
      const listings = Array.from({ length: LISTINGS }, newAddress);
      const creators = Array.from({ length: 5 }, newAddress);
      const verified = new Set<string>();
      /** Documents that have not arrived yet, by listing. */
      const missing = new Map<string, AgentMetadata>();
      const reader = readerOf();

      async function change(): Promise<void> {
        const listing = random.pick(listings);
        const kind = random.below(12);
        if (kind === 0) {
          plain.delete(listing);
          missing.delete(listing);
          return forget(listing);
        }
        if (kind === 1) {
          const creator = random.pick(creators);
          const isVerified = !verified.has(creator);
          if (isVerified) verified.add(creator);
          else verified.delete(creator);
          const row = { wallet: creator, verified: isVerified ? 1n : 0n, verified_at: 1n, slot: 1n } as const;
          await tables.index.db
            .insertInto('creators')
            .values(row)
            .onConflict((conflict) => conflict.column('wallet').doUpdateSet({ verified: row.verified }))
            .execute();
          const own = [...plain.values()].filter((agent) => agent.creator === creator);
          for (const agent of own) agent.verified = isVerified;
          return writeAgents(tables.index.db, [], [creator]);
        }
        // A document arrives after its listing.
        const late = missing.get(listing);
        if (kind === 2 && late) {
          const { addDocument } = createRows(tables.index.db, tables.ledger.db, { nowMs: 1 });
          await addDocument(encodeMetadata(late));
          (plain.get(listing) as Plain).document = late;
          missing.delete(listing);
          return;
        }
        const before = plain.get(listing);
        const isSameDocument = before?.document && random.below(2) === 0;
        const document: AgentMetadata = isSameDocument
          ? (before.document as AgentMetadata)
          : metadataOf({
              // A rare word, twice.
              name: random.below(20) === 0 ? 'aardvark for aardvarks' : random.pick(NAMES),
              tagline: `${random.pick(NAMES)} ${random.below(1_000_000)}`,
              display_name: `Studio ${random.below(20)}`,
              custom_tags: CUSTOM.filter(() => random.below(3) === 0),
            });
        const isHere = Boolean(isSameDocument) || random.below(6) > 0;
        const creator = before?.creator ?? random.pick(creators);
        const agent: Plain = {
          listing,
          creator,
          verified: verified.has(creator),
          status: random.pick(['active', 'active', 'active', 'paused', 'delisted']),
          price: 10_000 + random.below(5),
          tags: STANDARD.filter(() => random.below(3) === 0),
          listedAt: 1_000 + random.below(5),
          total: random.below(5),
          rate: 0,
          document,
        };
        if (agent.total > 0) agent.rate = random.below(agent.total + 1) / agent.total;
        await write(agent, isHere);
        missing.delete(listing);
        if (!isHere) {
          missing.set(listing, document);
          agent.document = null;
        }
        plain.set(listing, agent);
      }

      for (let number = 0; number < CHANGES; number += 1) await change();
      let found = 0;
      for (let number = 0; number < QUESTIONS; number += 1) {
        await change();
        const q = random.pick([...TEXTS, random.pick(listings), random.pick(creators)]);
        const query = AgentsQuery.parse({
          sort: random.pick(AGENT_SORTS),
          limit: String(1 + random.below(20)),
          offset: String(random.below(3) === 0 ? random.below(30) : 0),
          ...(random.below(2) === 0 && { q }),
          ...(random.below(3) === 0 && { tags: random.pick([...STANDARD, ...CUSTOM, 'data,csv', 'no"tag', "'"]) }),
          ...(random.below(4) === 0 && { verified_only: 'true' }),
          ...(random.below(4) === 0 && { min_executions: String(random.below(5)) }),
          ...(random.below(4) === 0 && { min_success_rate: String(random.below(5) / 4) }),
          ...(random.below(4) === 0 && { creator: random.pick([...creators, newAddress()]) }),
        });
        const { agents, total } = await findAgents(reader, query);
        const where = JSON.stringify({ seed, number, query });
        expect({ agents: agents.map(({ listing }) => listing), total }, where).to.deep.equal(
          pageOf(plain.values(), query),
        );
        found += total;
        const name = random.pick(TEXTS);
        const named = [...plain.values()].filter((agent) =>
          begin(plainWords(agent.document?.display_name ?? ''), name),
        );
        expect(await creatorsNamed(tables.views.db, name, 1_000), `${where} ${name}`).to.have.members([
          ...new Set(named.map(({ creator }) => creator)),
        ]);
      }
      // Most requests must have results, or the comparison would prove little.
      expect(found).to.be.above(QUESTIONS * 2);
    });
  }

  const agentOf = (number: number): Plain => {
    return {
      listing: newAddress(),
      creator: newAddress(),
      verified: false,
      status: 'active',
      price: 10_000 + number,
      tags: [],
      listedAt: 1_000,
      total: 0,
      rate: 0,
      document: metadataOf({ name: `agent ${number}` }),
    };
  };
  const ALL = AgentsQuery.parse({ sort: 'price_asc', limit: '100' });
  it('have the same pages for a word of all agents as without it, however many there are', async () => {
    const { index, ledger } = tables;
    const { addDocument, addListing } = createRows(index.db, ledger.db, { nowMs: 1 });
    const documents = Array.from({ length: 8 }, (_, number) =>
      encodeMetadata(metadataOf({ name: `common ${number}`, custom_tags: number === 0 ? ['sandbox'] : [] })),
    );
    for (const bytes of documents) await addDocument(bytes);
    const listing = await addListing({ tag_mask: 1n, metadata_hash: hashMetadata(documents[0]!) }, null);
    const first = await index.db.selectFrom('listings').selectAll().executeTakeFirstOrThrow();
    const others = Array.from({ length: MANY - 1 }, (_, number) => ({
      ...{ ...first, listing: newAddress(), listing_id: `${number}` },
      metadata_hash: hashMetadata(documents[number % documents.length]!),
      ...{ price: BigInt(number % 90), listed_at: BigInt(number % 70) },
    }));
    for (const part of chunks(others, 100)) await index.db.insertInto('listings').values(part).execute();
    await writeAgents(index.db, [listing, ...others.map((one) => one.listing)], []);
    const reader = readerOf();
    for (const sort of AGENT_SORTS) {
      for (const offset of ['0', '700', String(MANY - 10)]) {
        const page = { sort, offset, limit: '50' };
        const all = await findAgents(reader, AgentsQuery.parse(page));
        expect(all.total).to.equal(MANY);
        // The last begins a standard tag, too.
        for (const q of ['common', 'common ada', 'resea'])
          expect(await findAgents(reader, AgentsQuery.parse({ ...page, q })), `${sort} ${q}`).to.deep.equal(all);
      }
    }
  });

  it('leave out a listing whose document has only the first digits of its hash', async () => {
    const kept = agentOf(1);
    await write(kept, true);
    const reader = readerOf();
    const { metadata_hash } = await tables.index.db
      .selectFrom('listings')
      .select('metadata_hash')
      .where('listing', '=', kept.listing)
      .executeTakeFirstOrThrow();
    const forged = { ...agentOf(3), document: null };
    await write(forged, false);
    const alike = metadata_hash.slice(0, 15) + 'f'.repeat(49);
    await tables.index.db
      .updateTable('listings')
      .set({ metadata_hash: alike })
      .where('listing', '=', forged.listing)
      .execute();
    await writeAgents(tables.index.db, [forged.listing], []);
    const { agents, total } = await findAgents(reader, ALL);
    expect([agents.map(({ listing }) => listing), total]).to.deep.equal([[kept.listing], 1]);
  });
});
