/**
 * The listings in memory are put in their places one by one and found by marks and words. Here they are held against a plain
 * list that is filtered and sorted anew for each question: over random listings, changes and questions.
 */
import { expect } from 'chai';
import { createModel, type ListedAgent } from '../../../app/relay/agents/listed/model.ts';
import { tagMask } from '../../../app/sdk/wire/metadata.ts';
import { AgentsQuery } from '../../../app/sdk/wire/wire.ts';
import { createRandom } from '../../harness/random.ts';

const WORLDS = 30;
const CHANGES = 400;
const QUESTIONS = 60;
const STANDARD = ['data', 'code', 'research'] as const;
const CUSTOM = ['csv', 'csv-files', 'tax'];
const NAMES = ['CSV analyst', 'Café Tax', 'tax-auditor', 'Straße data', 'analyst of charts', '東京 map'];
const TEXTS = [
  'csv',
  'CS',
  'cafe',
  'tax anal',
  'data',
  'da',
  'res',
  'strasse',
  '東',
  'zzz',
  '...',
  'studio 1',
  'studio 17',
  '17 tax',
  'aard',
  'a an ana',
];

/** The words of a text, as the API's description says: in any case, without accents. */
const plainWords = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

function isFound(agent: ListedAgent, tags: string[], q: string): boolean {
  if (q === agent.listing || q === agent.creator) return true;
  const { name, tagline, display_name, custom_tags } = agent.description as NonNullable<ListedAgent['description']>;
  const own = [...plainWords([name, tagline, display_name, ...custom_tags].join(' ')), ...tags];
  const asked = plainWords(q);
  return asked.length > 0 && asked.every((word) => own.some((one) => one.startsWith(word)));
}

/** As the description of GET /v1/admin/creators says: of the creator's name only. */
function isNamed({ description }: ListedAgent, text: string): boolean {
  const own = plainWords(description?.display_name ?? '');
  const asked = plainWords(text);
  return asked.length > 0 && asked.every((word) => own.some((one) => one.startsWith(word)));
}

describe('agents in memory', () => {
  for (const [kind, sortFirst] of [
    ['put one by one', true],
    ['sorted all at once', false],
  ] as const) {
    it(`are the same as a plain list: ${kind}`, async () => {
      let found = 0;
      for (let seed = 0; seed < WORLDS; seed += 1) found += await compareWorld(seed, sortFirst, 60, CHANGES);
      // Questions that nothing answers would prove little.
      expect(found).to.be.above(WORLDS * QUESTIONS);
    });
  }

  it('are the same as a plain list: more than there is room for at first', async () => {
    expect(await compareWorld(WORLDS, true, 2_500, 5_000)).to.be.above(QUESTIONS);
  });
});

/** Throws where a page differs; returns how many agents were found. */
async function compareWorld(seed: number, sortFirst: boolean, listings: number, changes: number): Promise<number> {
  const random = createRandom(seed);
  const model = createModel();
  const plain = new Map<string, { agent: ListedAgent; tags: string[] }>();
  if (sortFirst) await model.sort();
  const change = () => {
    const listing = `listing ${random.below(listings)}`;
    if (random.below(6) === 0) {
      plain.delete(listing);
      model.put(listing, null);
      return;
    }
    const before = plain.get(listing);
    const tags = STANDARD.filter(() => random.below(3) === 0);
    const isRenamed = !before || random.below(2) === 0;
    const version = random.below(1_000_000);
    const described = {
      // What few have, twice.
      name: random.below(20) === 0 ? 'aardvark for aardvarks' : random.pick(NAMES),
      tagline: random.pick(NAMES),
      display_name: `Studio ${random.below(20)}`,
      custom_tags: CUSTOM.filter(() => random.below(3) === 0),
    };
    const agent: ListedAgent = {
      listing,
      creator: `creator ${random.below(5)}`,
      verified: random.below(2) === 0,
      status: random.pick(['active', 'active', 'active', 'paused', 'delisted']),
      price: BigInt(random.below(5)),
      tagMask: tagMask(tags),
      listedAt: random.below(5),
      totalExecutions: random.below(5),
      successRate: random.below(5) / 4,
      averageMs: 1,
      metadataHash: isRenamed ? `hash ${version}` : before.agent.metadataHash,
      description: isRenamed ? (random.below(8) === 0 ? null : described) : before.agent.description,
    };
    plain.set(listing, { agent, tags });
    model.put(listing, agent);
  };
  for (let number = 0; number < changes; number += 1) change();
  if (!sortFirst) await model.sort();
  let found = 0;
  for (let number = 0; number < QUESTIONS; number += 1) {
    change();
    const query = AgentsQuery.parse({
      sort: random.pick(['total_executions', 'success_rate', 'price_asc', 'price_desc', 'created_at']),
      limit: String(1 + random.below(20)),
      offset: String(random.below(3) === 0 ? random.below(30) : 0),
      ...(random.below(2) === 0 && { q: random.pick([...TEXTS, 'listing 7', 'creator 2']) }),
      ...(random.below(3) === 0 && { tags: random.pick([...STANDARD, ...CUSTOM]) }),
      ...(random.below(4) === 0 && { verified_only: 'true' }),
      ...(random.below(4) === 0 && { min_executions: String(random.below(5)) }),
      ...(random.below(4) === 0 && { min_success_rate: String(random.below(5) / 4) }),
    });
    if (random.below(4) === 0) query.creator = `creator ${random.below(6)}`;
    const { agents, total } = model.page(query);
    const expected = pageOf([...plain.values()], query);
    expect({ agents: agents.map(({ listing }) => listing), total }, JSON.stringify({ seed, query })).to.deep.equal(
      expected,
    );
    found += total;
    const name = random.pick(TEXTS);
    const named = [...plain.values()].filter(({ agent }) => isNamed(agent, name)).map(({ agent }) => agent.listing);
    const creators = model.ofCreatorsNamed(name).map(({ listing }) => listing);
    expect(creators, JSON.stringify({ seed, name })).to.have.members(named);
  }
  return found;
}

function pageOf(all: { agent: ListedAgent; tags: string[] }[], query: AgentsQuery) {
  const matching = all
    .filter(({ agent, tags }) => {
      if (agent.status !== 'active' || !agent.description) return false;
      const own: string[] = [...tags, ...agent.description.custom_tags];
      return (
        (query.tags ?? []).every((tag) => own.includes(tag)) &&
        (query.q === undefined || isFound(agent, tags, query.q)) &&
        (!query.verified_only || agent.verified) &&
        (query.creator === undefined || agent.creator === query.creator) &&
        agent.totalExecutions >= (query.min_executions ?? 0) &&
        agent.successRate >= (query.min_success_rate ?? 0)
      );
    })
    .map(({ agent }) => agent);
  const keys: Record<AgentsQuery['sort'], (agent: ListedAgent) => number> = {
    total_executions: (agent) => -agent.totalExecutions,
    success_rate: (agent) => -agent.successRate,
    price_asc: (agent) => Number(agent.price),
    price_desc: (agent) => -Number(agent.price),
    created_at: (agent) => -agent.listedAt,
  };
  const key = keys[query.sort];
  matching.sort((one, other) => key(one) - key(other) || (one.listing < other.listing ? -1 : 1));
  const { offset, limit } = query;
  return { agents: matching.slice(offset, offset + limit).map(({ listing }) => listing), total: matching.length };
}
