/** A creator's FILE.json: accepted files, and refusals that name the field and the rule. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readListingFile } from '../../app/cli/listingFile.ts';
import { depositFor, type ListingDraftInput, parseListingDraft } from '../../app/sdk/wallet/listingDraft.ts';
import { Refusal } from '../../app/sdk/wallet/refusal.ts';
import { pixelOf, urlOf } from '../harness/edge/pictures.ts';
import { useFolder } from '../harness/folder.ts';

const valid: ListingDraftInput = {
  name: 'summarizer',
  tagline: 'Summarizes a text.',
  description: 'Give it a text.',
  display_name: 'Ada',
  tags: ['writing', 'research', 'summaries'],
  price_usdc: 0.25,
  timeout_seconds: 60,
  input_schema: { type: 'object', properties: {} },
  output_schema: { type: 'string' },
  endpoint: 'https://agents.example.com/summarizer/execute',
};

describe('the description of an agent', () => {
  const folder = useFolder('picture');

  it('becomes metadata and terms', () => {
    const file = parseListingDraft({ ...valid, price_usdc: '0.010001' }, 'agent.json');
    expect(file.price).to.equal(10_001n);
    expect(file.timeoutSeconds).to.equal(60);
    expect(file.minTimeoutSeconds).to.equal(1);
    // `research` is bit 0 and `writing` bit 7 of the standard taxonomy.
    expect(file.tagMask).to.equal(0b1000_0001);
    expect(file.metadata.custom_tags).to.deep.equal(['summaries']);
    expect(file.metadata).to.have.all.keys(
      'name',
      'tagline',
      'description',
      'display_name',
      'custom_tags',
      'input_schema',
      'output_schema',
      'endpoint',
    );
    expect(file.test).to.equal(null);
    expect(file.signingKeyPath).to.equal(null);
  });

  it('takes its picture from a file beside it, and refuses files of other formats', () => {
    const write = (name: string, content: string | Buffer) => writeFileSync(join(folder, name), content);
    const read = (picture: string) => {
      write('agent.json', JSON.stringify({ ...valid, picture }));
      return readListingFile(join(folder, 'agent.json')).metadata.picture;
    };
    const png = pixelOf('image/png');
    write('picture.png', png);
    write('picture.svg', '<svg/>');
    write('large.png', Buffer.concat([png, Buffer.alloc(25_000)]));
    expect(read('picture.png')).to.equal(urlOf('image/png', png));
    expect(read(urlOf('image/png', png))).to.equal(urlOf('image/png', png));
    expect(() => read('picture.svg')).to.throw(Refusal, /picture\.svg is not a PNG, JPEG or WebP/);
    expect(() => read('missing.png')).to.throw(Refusal, /missing\.png does not exist/);
    expect(() => read('large.png')).to.throw(Refusal, /at most 24576 bytes[\s\S]*at picture/);
  });

  const refused: [string, Record<string, unknown>, RegExp][] = [
    ['a tagline on two lines', { tagline: 'one\ntwo' }, /one line[\s\S]*at tagline/],
    ['no standard tag', { tags: ['summaries'] }, /at least one standard tag: research, code, [\s\S]*at tags/],
    [
      'six standard tags',
      { tags: ['research', 'code', 'legal', 'finance', 'data', 'social'] },
      /at most 5 standard tags[\s\S]*at tags/,
    ],
    ['a custom tag with capitals', { tags: ['code', 'Rust'] }, /2 to 24 of a-z, 0-9 and -/],
    ['a price finer than a base unit', { price_usdc: '0.0000001' }, /at most 6 decimal places[\s\S]*at price_usdc/],
    ['a negative price', { price_usdc: -1 }, /must not be negative[\s\S]*at price_usdc/],
    ['a timeout of a fraction', { timeout_seconds: 1.5 }, /whole number of seconds[\s\S]*at timeout_seconds/],
    ['an endpoint elsewhere', { endpoint: 'https://example.com/run' }, /ending in \/execute[\s\S]*at endpoint/],
    ['an unknown field', { prise: 1 }, /prise/],
    ['an array instead of an object', [] as never, /does not describe an agent/],
  ];
  for (const [what, change, rule] of refused) {
    it(`rejects: ${what}`, () => {
      const content = Array.isArray(change) ? change : { ...valid, ...change };
      expect(() => parseListingDraft(content, 'agent.json')).to.throw(Refusal, rule);
    });
  }
});

describe('the deposit for a price', () => {
  const config = {
    minPrice: 10_000n,
    tierCount: 2,
    tiers: [
      { maxPrice: 100_000n, deposit: 1_000_000n },
      { maxPrice: 1_000_000n, deposit: 5_000_000n },
      { maxPrice: 0n, deposit: 0n },
      { maxPrice: 0n, deposit: 0n },
    ],
  };

  it('is the deposit of the first tier that covers the price', () => {
    expect(depositFor(10_000n, config)).to.equal(1_000_000n);
    expect(depositFor(100_000n, config)).to.equal(1_000_000n);
    expect(depositFor(100_001n, config)).to.equal(5_000_000n);
    expect(depositFor(1_000_000n, config)).to.equal(5_000_000n);
  });

  it('rejects: a price outside all tiers, and names the limit', () => {
    expect(() => depositFor(9_999n, config)).to.throw(Refusal, 'below the minimum, 0.01 USDC');
    expect(() => depositFor(1_000_001n, config)).to.throw(Refusal, 'above the maximum, 1 USDC');
  });
});
