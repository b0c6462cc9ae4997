/**
 * Lists and searches of agents come from tables that follow the index. The tests compare them with a plain list that is
 * filtered and sorted for each request, for random listings, changes and requests.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pino from 'pino';
import { createListedAgents } from '../../../app/relay/agents/listed.ts';
import { creatorsNamed, findAgents } from '../../../app/relay/agents/search.ts';
import { hashMetadata } from '../../../app/sdk/receipt/metadataHash.ts';
import { AGENT_SORTS } from '../../../app/sdk/wire/choices.ts';
import { type AgentMetadata, encodeMetadata, type StandardTag, tagMask } from '../../../app/sdk/wire/metadata.ts';
import { AgentsQuery } from '../../../app/sdk/wire/wire.ts';
import { createRows, metadataOf, newAddress } from '../../harness/edge/rows.ts';
import { createRandom } from '../../harness/random.ts';
import { openTables, type Tables } from '../../harness/tables.ts';

const WORLDS = 4;
const LISTINGS = 40;
const CHANGES = 150;
const QUESTIONS = 100;
const STANDARD = ['data', 'code', 'research'] as const;
const CUSTOM = ['csv', 'csv-files', 'tax', 'sandbox'];
const NAMES = [
  'CSV analyst',
  'Café Tax',
  'tax-auditor',
  'Straße data',
  'analyst of charts',
  '東京 map',
  'ﬁne ٣ маршрут',
];
const TEXTS = [
  ...[
    'csv',
    'CS',
    'cafe',
    'tax anal',
    'data',
    'da',
    'res',
    'strasse',
    'straße',
    '東',
    'zzz',
    '...',
    'studio 1',
    'studio 17',
  ],
  ...[
    '17 tax',
    'aard',
    'a an ana',
    'fine',
    '٣',
    'МАРШ',
    '@studio',
    '#csv',
    'csv" OR "tax',
    "tax' | 'csv",
    'tax*',
    ':* & !tax',
  ],
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

describe('lists of agents', function () {
  this.timeout(120_000);
  let folder: string;
  let tables: Tables;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'listed-agents-'));
    tables = await openTables(folder);
  });
  afterEach(async () => {
    await tables.close();
    rmSync(folder, { recursive: true });
  });

  const listedOf = () =>
    createListedAgents({
      views: tables.views.db,
      ledger: tables.ledger.db,
      writes: tables.writes,
      now: () => Date.now(),
      log: pino({ level: 'silent' }),
    });

  let revision = 1n;
  /** Stamps changed listings with a new revision, as the indexer does. */
  async function stamp(listings: string[]): Promise<void> {
    revision += 1n;
    await tables.index.db.updateTable('catalogue_revision').set({ revision }).execute();
    for (const listing of listings) {
      await tables.index.db
        .insertInto('changed_agents')
        .values({ listing, revision })
        .onConflict((conflict) => conflict.column('listing').doUpdateSet({ revision }))
        .execute();
    }
  }

  /** Replaces the stored listing with its present state. */
  async function write(agent: Plain, isHere: boolean): Promise<void> {
    const { index, ledger } = tables;
    await forget(agent.listing);
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
  }

  async function forget(listing: string): Promise<void> {
    for (const table of ['listings', 'agent_statistics'] as const)
      await tables.index.db.deleteFrom(table).where('listing', '=', listing).execute();
  }

  for (let seed = 0; seed < WORLDS; seed += 1) {
    it(`equal a plain list after random changes of seed ${seed}`, async () => {
      const random = createRandom(seed);
      const plain = new Map<string, Plain>();
      const listings = Array.from({ length: LISTINGS }, newAddress);
      const creators = Array.from({ length: 5 }, newAddress);
      const verified = new Set<string>();
      /** Documents that have not arrived yet, by listing. */
      const missing = new Map<string, AgentMetadata>();
      const listed = listedOf();

      async function change(): Promise<void> {
        const listing = random.pick(listings);
        const kind = random.below(12);
        if (kind === 0) {
          plain.delete(listing);
          missing.delete(listing);
          await forget(listing);
          return stamp([listing]);
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
          return stamp(own.map((agent) => agent.listing));
        }
        // A document arrives, and the index reports no change.
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
        await stamp([listing]);
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
        await listed.current();
        const { agents, total } = await findAgents(tables.views.db, query);
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
  const shown = async () => (await findAgents(tables.views.db, ALL)).agents.map(({ listing }) => listing);

  it('of several relays agree: each continues where another stopped', async () => {
    const agents = Array.from({ length: 80 }, (_, number) => agentOf(number));
    for (const agent of agents) await write(agent, true);
    const [one, other] = [listedOf(), listedOf()];
    await stamp(agents.map(({ listing }) => listing));
    await Promise.all([one.current(), other.current(), one.current()]);
    expect(await shown()).to.deep.equal(agents.map(({ listing }) => listing));
    const [first] = agents as [Plain];
    first.status = 'paused';
    await write(first, true);
    await stamp([first.listing]);
    await Promise.all([other.current(), one.current()]);
    expect(await shown()).to.deep.equal(agents.slice(1).map(({ listing }) => listing));
  });

  it('follow a rebuilt index, although its counters restart and some rows are missing', async () => {
    const [kept, lost, changed] = [agentOf(1), agentOf(2), agentOf(3)];
    for (const agent of [kept, lost, changed]) await write(agent, true);
    await stamp([kept, lost, changed].map(({ listing }) => listing));
    await listedOf().current();
    expect(await shown()).to.deep.equal([kept, lost, changed].map(({ listing }) => listing));

    await tables.index.db.deleteFrom('changed_agents').execute();
    await forget(lost.listing);
    await write({ ...changed, price: 1 }, true);
    await tables.index.db.updateTable('catalogue_revision').set({ build: 'another' }).execute();
    revision = 0n;
    await stamp([kept, changed].map(({ listing }) => listing));
    await listedOf().current();
    expect(await shown()).to.deep.equal([changed, kept].map(({ listing }) => listing));
  });
});
