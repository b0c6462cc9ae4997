/** text-report over HTTP. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
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
    expect(statistics).to.include({ headings: 3, paragraphs: 9 });
    expect(statistics.reading_seconds).to.equal(Math.round((statistics.words / 238) * 60));
    expect(key_sentences.sentences).to.have.length(3);
    const flat = lighthouse.replace(/\s+/g, ' ');
    for (const { text } of key_sentences.sentences) expect(flat).to.contain(text);
    expect(outline[1]).to.deep.equal({ kind: 'heading', level: 1, text: 'Why a lighthouse' });
    expect(outline[2].opening).to.equal(
      'For two hundred years a lighthouse was the largest machine that most people ever saw at work.',
    );
  });

  it('counts a small text exactly, and quotes the sentence with the most telling words', async () => {
    const { statistics, key_sentences, outline } = await report(
      'The cat sat.\nThe cat ran 3.50 miles!\r\n\r\n为什么？因为。',
      {
        sentences: 1,
      },
    );
    expect(statistics).to.deep.equal({
      characters: 47,
      words: 10,
      reading_seconds: 3,
      unique_words: 8,
      sentences: 4,
      paragraphs: 2,
      headings: 0,
      average_sentence_words: 2.5,
      longest_sentence_words: 5,
    });
    expect(key_sentences.sentences.map(({ text }: { text: string }) => text)).to.deep.equal(['The cat sat.']);
    expect(outline).to.deep.equal([
      { kind: 'paragraph', opening: 'The cat sat.', sentences: 2, words: 8 },
      { kind: 'paragraph', opening: '为什么？', sentences: 2, words: 2 },
    ]);
  });

  it('reports on 1,000 sentences and on texts that would stall a simple parser', async () => {
    const words = Array.from({ length: 1000 }, (_, index) => `Sentence number ${index} is about topic ${index % 7}.`);
    expect((await report(words.join(' '))).statistics.sentences).to.equal(1000);
    for (const part of ['a', ' #', '# ', ' \n', '?', '1.']) await report(`# a${part.repeat(199_900 / part.length)}b`);
  });

  it('rejects: invalid parameters', async () => {
    const cases: [object, string][] = [
      [{}, 'parameters.text must be a non-empty string'],
      [{ text: '  \n' }, 'parameters.text must be a non-empty string'],
      [{ text: 7 }, 'parameters.text must be a non-empty string'],
      [{ text: 'x'.repeat(200_001) }, 'parameters.text is longer than 200000 characters'],
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
