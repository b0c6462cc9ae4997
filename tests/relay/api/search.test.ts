/** GET /v1/agents by words and by creator. */
import { expect } from 'chai';
import { createClient } from '../../../app/sdk/client/client.ts';
import { hashMetadata } from '../../../app/sdk/receipt/metadataHash.ts';
import { encodeMetadata, tagMask } from '../../../app/sdk/wire/metadata.ts';
import type { ListingRow } from '../../../indexer/queries/accounts.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { refreshFigures } from '../../harness/edge/figures.ts';
import { metadataOf, newAddress } from '../../harness/edge/rows.ts';

describe('GET /v1/agents by words', () => {
  const creator = newAddress();
  const ids: Record<string, string> = {};
  const world = useWorld();
  before(async () => {
    ids.csv = await world.addListing({ creator, tag_mask: BigInt(tagMask(['data', 'sql'])) }, { name: 'csv-analyst' });
    ids.law = await world.addListing(
      { tag_mask: BigInt(tagMask(['legal'])) },
      {
        name: 'Vertragsprüfer',
        tagline: 'Reads contracts.',
        display_name: 'Müller & Söhne',
        custom_tags: ['contract-review'],
      },
    );
    ids.quote = await world.addListing({}, { name: 'say "hello" OR NOT', tagline: 'A greeter.', display_name: 'Bo' });
    await world.addListing({ status: 'delisted' }, { name: 'csv-old' });
  });

  async function found(query: Record<string, string>): Promise<string[]> {
    await refreshFigures(world.index);
    const { agents, total } = await createClient({ baseUrl: world.url }).request('listAgents', query);
    expect(total).to.equal(agents.length);
    return agents.map(({ agent_id }) => Object.keys(ids).find((name) => ids[name] === agent_id) ?? agent_id).sort();
  }

  const CASES: [q: string, expected: string[]][] = [
    ['csv', ['csv']],
    ['CSV Analyst', ['csv']],
    ['analyst csv', ['csv']],
    ['csv-analyst', ['csv']],
    ['anal', ['csv']],
    ['nalyst', []],
    ['question file', ['csv']],
    ['ada', ['csv']],
    ['VERTRAGSPRÜFER', ['law']],
    ['vertragsprufer muller', ['law']],
    ['contract-review', ['law']],
    ['review reads', ['law']],
    ['legal', ['law']],
    ['LEGAL contracts', ['law']],
    ['sql', ['csv']],
    ['csv legal', []],
    ['"hello"', ['quote']],
    ['hello OR csv', []],
    ['NOT', ['quote']],
    ['name:csv', []],
    ['csv*', ['csv']],
    ['-', []],
    ['"', []],
    ["'; DROP TABLE metadata; --", []],
    ['%', []],
  ];
  for (const [q, expected] of CASES) {
    it(`q=${q} finds ${expected.join(', ') || 'nothing'}`, async () => {
      expect(await found({ q })).to.deep.equal(expected);
    });
  }

  it('finds an agent by its whole id and a wallet by its whole address', async () => {
    expect(await found({ q: ids.law! })).to.deep.equal(['law']);
    expect(await found({ q: creator })).to.deep.equal(['csv']);
    expect(await found({ q: creator.slice(0, -1) })).to.deep.equal([]);
  });

  it('does not find an agent by the hash of its document', async () => {
    const { metadata_hash } = await world.index
      .selectFrom('listings')
      .select('metadata_hash')
      .where('listing', '=', ids.csv!)
      .executeTakeFirstOrThrow();
    expect(await found({ q: metadata_hash })).to.deep.equal([]);
  });

  it('filters by creator together with the other filters', async () => {
    expect(await found({ creator })).to.deep.equal(['csv']);
    expect(await found({ creator, q: 'legal' })).to.deep.equal([]);
    expect(await found({ q: 'csv', tags: 'legal' })).to.deep.equal([]);
    expect(await found({ creator: newAddress() })).to.deep.equal([]);
  });

  it('rejects: no word, too many characters, control characters, and an invalid wallet', async () => {
    const long = 'x'.repeat(101);
    for (const query of ['q=', `q=${long}`, 'q=a%00b', 'creator=x', 'q=a&q=b']) {
      const { status, json } = await world.get(`/v1/agents?${query}`);
      expect([status, json.error.code], query).to.deep.equal([400, 'invalid_request']);
      expect(json.error.details.issues[0], query).to.include({ in: 'query' });
    }
    expect((await world.get(`/v1/agents?q=${'x'.repeat(100)}`)).status).to.equal(200);
  });

  it('follows the listings: finds new ones, and forgets the words of changed or removed ones', async () => {
    ids.zebra = await world.addListing({}, { name: 'zebra', custom_tags: ['stripes'] });
    expect(await found({ q: 'zebra' })).to.deep.equal(['zebra']);
    expect(await found({ tags: 'stripes' })).to.deep.equal(['zebra']);
    const bytes = encodeMetadata(metadataOf({ name: 'okapi' }));
    await world.addDocument(bytes);
    const change = (set: Partial<ListingRow>) =>
      world.index.updateTable('listings').set(set).where('listing', '=', ids.zebra!).execute();
    await change({ metadata_hash: hashMetadata(bytes) });
    expect(await found({ q: 'zebra' })).to.deep.equal([]);
    expect(await found({ tags: 'stripes' })).to.deep.equal([]);
    expect(await found({ q: 'okapi' })).to.deep.equal(['zebra']);
    await change({ status: 'delisted' });
    expect(await found({ q: 'okapi' })).to.deep.equal([]);
  });
});
