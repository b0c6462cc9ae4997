/** Pictures of agents: bounded, checked by their bytes, and served so that no browser takes them for anything else. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { hashMetadata } from '../../../app/sdk/receipt/metadataHash.ts';
import { encodeMetadata } from '../../../app/sdk/wire/metadata.ts';
import { useWorld } from '../../harness/edge/api.ts';
import { PICTURE_TYPES, pixelOf, pngOf, urlOf } from '../../harness/edge/pictures.ts';
import { metadataOf, newAddress } from '../../harness/edge/rows.ts';

const LARGEST = 24 * 1024;
const png = pixelOf('image/png');

describe('the picture of an agent', () => {
  const world = useWorld();

  /** Lists an agent by the API's own way. */
  async function list(picture: string, name = 'pictured') {
    const bytes = encodeMetadata(metadataOf({ name, picture }));
    const { status, json } = await world.post('/v1/metadata', bytes);
    expect(status, JSON.stringify(json)).to.equal(200);
    const { metadata_hash } = json;
    const agentId = await world.addListing({ metadata_hash }, null);
    return { agentId, path: `/v1/agents/${agentId}/pictures/${metadata_hash}` };
  }

  for (const type of PICTURE_TYPES) {
    it(`is served as ${type} with its exact bytes, and answers contain only its path`, async () => {
      const bytes = pixelOf(type);
      const { agentId, path } = await list(urlOf(type, bytes), type.replace('/', '-'));
      const page = await world.get('/v1/agents?limit=100');
      const shown = page.json.agents.find((agent: { agent_id: string }) => agent.agent_id === agentId);
      expect(shown.picture_path).to.equal(path);
      const agent = await world.get(`/v1/agents/${agentId}`);
      expect(agent.json.picture_path).to.equal(path);
      for (const { text } of [page, agent]) expect(text).to.not.include('base64');
      expect((await world.get(`/v1/agents/${agentId}/agent-card.json`)).json.iconUrl).to.equal(world.url + path);

      const response = await fetch(world.url + path);
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).to.equal(true);
      const { headers } = response;
      expect(Object.fromEntries(headers)).to.include({
        'content-type': type,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': 'public, max-age=31536000, immutable',
      });
      const again = await fetch(world.url + path, { headers: { 'if-none-match': headers.get('etag')! } });
      expect(again.status).to.equal(304);
    });
  }

  it('may have 24 KiB and 512 x 512 pixels', async () => {
    const largest = Buffer.concat([pngOf(512, 512), Buffer.alloc(LARGEST)]).subarray(0, LARGEST);
    const { path } = await list(urlOf('image/png', largest));
    expect((await world.get(path)).headers.get('content-length')).to.equal(String(LARGEST));
  });

  it('is not served for an agent without one, for another document, after delisting, or without a listing', async () => {
    const plain = await world.addListing();
    const metadata_hash = hashMetadata(encodeMetadata(metadataOf()));
    expect((await world.get(`/v1/agents/${plain}`)).json.picture_path).to.equal(null);
    const unlisted = encodeMetadata(metadataOf({ name: 'unlisted', picture: urlOf('image/png', png) }));
    expect((await world.post('/v1/metadata', unlisted)).status).to.equal(200);
    const { agentId, path } = await list(urlOf('image/png', png), 'delisted-later');
    expect((await world.get(path)).status).to.equal(200);
    await world.index.updateTable('listings').set({ status: 'delisted' }).where('listing', '=', agentId).execute();
    for (const [gone, code] of [
      [`/v1/agents/${plain}/pictures/${metadata_hash}`, 'not_found'],
      [`/v1/agents/${plain}/pictures/${hashMetadata(unlisted)}`, 'not_found'],
      [`/v1/agents/${plain}/pictures/constructor`, 'not_found'],
      [`/v1/agents/${newAddress()}/pictures/${metadata_hash}`, 'agent_not_found'],
      [path, 'agent_not_found'],
    ] as const) {
      const { outcome, headers } = await world.get(gone);
      expect([outcome, headers.get('cache-control')]).to.deep.equal([`404 ${code}`, 'no-store']);
    }
  });

  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const html = Buffer.from('<!doctype html><script>alert(1)</script>');
  const animated = Buffer.from('RIFF____WEBPVP8X____\x02___\0\0\0\0\0\0', 'latin1');
  const BAD: [name: string, picture: unknown, expected: RegExp][] = [
    ['an address elsewhere', 'https://tracker.example/pixel.png', /data: URL/],
    ['SVG', urlOf('image/svg+xml', svg), /PNG, JPEG or WebP/],
    ['HTML that says it is WebP', urlOf('image/webp', html), /bytes of image\/webp/],
    ['a PNG that says it is JPEG', urlOf('image/jpeg', png), /bytes of image\/jpeg/],
    ['a PNG that ends in its head', urlOf('image/png', png.subarray(0, 20)), /bytes of image\/png/],
    ['base64 with a line break', `${urlOf('image/png', png)}\n`, /base64/],
    ['text that is not base64', "data:image/png;base64,'><script>", /base64/],
    ['a media type with parameters', urlOf('image/png;charset=utf-8', png), /data: URL/],
    ['too many bytes', urlOf('image/png', Buffer.concat([png, randomBytes(LARGEST)])), /24576 bytes/],
    ['too many pixels in few bytes', urlOf('image/png', pngOf(513, 1)), /512 x 512/],
    ['no pixels', urlOf('image/png', pngOf(0, 1)), /512 x 512/],
    // A decoder skips a restart marker, so the second frame header is not the picture's.
    [
      'a JPEG with a second frame header behind a marker without a length',
      urlOf('image/jpeg', Buffer.from('ffd8ffd00008ffc0000b0840004000ffc0000b0800010001', 'hex')),
      /still picture with the bytes of image\/jpeg/,
    ],
    ['an animated PNG', urlOf('image/png', pngOf(1, 1, 'acTL')), /still picture/],
    ['an animated WebP', urlOf('image/webp', animated), /still picture/],
  ];
  it('is refused if it is no small still picture of its type; nothing is stored', async () => {
    for (const [name, picture, expected] of BAD) {
      const bytes = Buffer.from(JSON.stringify({ ...metadataOf({ name: 'refused' }), picture }));
      const { outcome, json } = await world.post('/v1/metadata', bytes);
      expect(outcome, name).to.equal('400 invalid_request');
      expect(json.error.details.issues).to.have.length(1);
      const [issue] = json.error.details.issues;
      expect([issue.in, issue.path]).to.deep.equal(['body', 'picture']);
      expect(issue.expected, name).to.match(expected);
      expect(JSON.stringify(json)).to.have.length.below(1_000);
      const hash = hashMetadata(bytes);
      const stored = await world.ledger.selectFrom('documents').selectAll().where('metadata_hash', '=', hash).execute();
      expect(stored).to.deep.equal([]);
    }
  });
});
