/** text-report over HTTP: what it adds to the parser of Markdown; and LexRank against values computed by hand. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { lexRank } from '../../app/local/creators/lexrank.ts';
import { type Creators, complete, execution, fail, forkCreators, type RunningAgent } from './process.ts';

const lighthouse = readFileSync(new URL('../../examples/lighthouse.txt', import.meta.url), 'utf8');

describe('demo creators: text-report', () => {
  let creators: Creators;
  let agent: RunningAgent;

  before(async () => {
    creators = forkCreators();
    agent = (await creators.start([{ name: 'text-report' }])).get('text-report')!;
  });
  after(() => creators.stop());

  async function report(text: string, parameters: object = {}) {
    return JSON.parse(await complete(agent, execution('report', { text, ...parameters })));
  }

  it('reports on the example file', async () => {
    const { statistics, key_sentences, outline } = await report(lighthouse);
    expect(statistics.characters).to.equal([...lighthouse].length);
    // `wc -w` also counts a bare #, so those are removed first.
    expect(statistics.words).to.equal(lighthouse.replaceAll('#', '').trim().split(/\s+/).length);
    expect(statistics).to.include({ headings: 4, paragraphs: 8 });
    expect(statistics.unique_words).to.be.within(200, statistics.words);
    expect(statistics.reading_seconds).to.equal(Math.round((statistics.words / 238) * 60));
    expect(key_sentences.method).to.match(/^LexRank/);
    expect(key_sentences.sentences).to.have.length(3);
    const flat = lighthouse.replace(/\s+/g, ' ');
    let last = 0;
    for (const { position, score, text } of key_sentences.sentences) {
      expect(flat).to.contain(text);
      expect(position).to.be.greaterThan(last);
      expect(score).to.be.greaterThan(1);
      last = position;
    }
    expect(outline.filter(({ kind }: { kind: string }) => kind === 'heading')).to.deep.equal([
      { kind: 'heading', level: 1, text: 'The Keeper of Small Machines' },
      { kind: 'heading', level: 1, text: 'Why a lighthouse' },
      { kind: 'heading', level: 1, text: 'The work of the keeper' },
      { kind: 'heading', level: 1, text: 'What is left of it' },
    ]);
    expect(outline[2].opening).to.equal(
      'For two hundred years a lighthouse was the largest machine that most people ever saw at work.',
    );
  });

  it('counts a small text exactly', async () => {
    const { statistics, outline } = await report('The cat sat. The cat ran far away!\n\nWhy?');
    expect(statistics).to.deep.equal({
      characters: 40,
      words: 9,
      reading_seconds: 2,
      unique_words: 7,
      sentences: 3,
      paragraphs: 2,
      headings: 0,
      average_sentence_words: 3,
      longest_sentence_words: 5,
    });
    expect(outline).to.deep.equal([
      { kind: 'paragraph', opening: 'The cat sat.', sentences: 2, words: 8 },
      { kind: 'paragraph', opening: 'Why?', sentences: 1, words: 1 },
    ]);
  });

  const MARKDOWN: [name: string, text: string, outline: string[]][] = [
    ['a byte order mark before a heading', '\ufeff# Title\n\nText here.', ['1 Title', 'Text here.']],
    [
      'a title, rules, lists and a last line',
      'Title line\r\n\r\nFirst.\n\n---\n\n- a list item\n\nThis ends with a colon:\n\nlast line',
      ['1 Title line', 'First.', '- a list item', 'This ends with a colon:', 'last line'],
    ],
    ['# within fenced code', 'Text.\n\n```sh\n# no heading\nls\n```\n\nMore text.', ['Text.', 'More text.']],
    ['HTML', '<!-- # no heading -->\n\n<div>\n# none either\n</div>\n\nText.', ['Text.']],
    ['an emphasised heading', '## *The* [first](https://example.com) `part`\n\nText.', ['2 The first part', 'Text.']],
  ];
  for (const [name, text, expected] of MARKDOWN) {
    it(`reads Markdown: ${name}`, async () => {
      const { outline } = await report(text);
      const shown = outline.map((entry: { kind: string; level: number; text: string; opening: string }) =>
        entry.kind === 'heading' ? `${entry.level} ${entry.text}` : entry.opening,
      );
      expect(shown).to.deep.equal(expected);
    });
  }

  it('finds sentences with abbreviations, and of scripts without spaces', async () => {
    for (const sentences of [
      ['Dr. J. Smith met Mrs. Brown, e.g. Monday. ', 'It cost 3.50 dollars. ', 'Why?'],
      ['今天下雪了。', '大家都没去上班！', '为什么？', '“因为太冷了。”'],
    ]) {
      const { key_sentences } = await report(sentences.join(''), { sentences: 10 });
      const found = key_sentences.sentences.map(({ text }: { text: string }) => text);
      expect(found).to.deep.equal(sentences.map((one) => one.trim()));
    }
  });

  it('reports on 1,000 sentences and on texts that would stall a simple parser', async () => {
    const words = Array.from({ length: 1000 }, (_, index) => `Sentence number ${index} is about topic ${index % 7}.`);
    expect((await report(words.join(' '))).statistics.sentences).to.equal(1000);
    await report(`# ${' #'.repeat(90_000)}x`);
    await report(`a${' \n'.repeat(4_900)}b`);
    await report('a'.repeat(200_000));
    await report('我'.repeat(200_000));
    await report('*a_['.repeat(50_000));
    await report('> '.repeat(100_000));
  });

  it('rejects: invalid parameters', async () => {
    const cases: [object, string][] = [
      [{}, 'parameters.text must be a non-empty string'],
      [{ text: '  \n' }, 'parameters.text must be a non-empty string'],
      [{ text: 7 }, 'parameters.text must be a non-empty string'],
      [{ text: 'x'.repeat(200_001) }, 'parameters.text is longer than 200000 characters'],
      [{ text: 'x\n'.repeat(5_000) }, 'parameters.text has 5001 lines, more than 5000'],
      [{ text: 'A b. '.repeat(1001) }, 'parameters.text has 1001 sentences, more than 1000'],
      ...[0, 11, 1.5, '3', null].map((sentences): [object, string] => [
        { text: 'x', sentences },
        'parameters.sentences must be an integer from 1 to 10',
      ]),
    ];
    for (const [parameters, reason] of cases) {
      expect(await fail(agent, execution('report', parameters))).to.equal(reason);
    }
  });
});

describe('demo creators: LexRank', () => {
  it('ranks the centre of a star highest, with the value of its closed form', () => {
    // Three leaves share a word with the middle and none with each other. With jump j, N = 4, leaf degree 2 and
    // middle degree 4 (each with itself): leaf = (j/N + (1-j)*m/4) / (1 - (1-j)/2) and m = 1 - 3 * leaf.
    const scores = lexRank([
      ['a', 'b', 'c'],
      ['a', 'x'],
      ['b', 'y'],
      ['c', 'z'],
    ]);
    const keep = 0.85;
    const leaf = (0.15 / 4 + keep / 4) / (1 - keep / 2 + (3 * keep) / 4);
    expect(scores[0]).to.be.closeTo(1 - 3 * leaf, 1e-5);
    for (const score of scores.slice(1)) expect(score).to.be.closeTo(leaf, 1e-5);
  });
});
