/**
 * text-report: measures a text, quotes its key sentences (LexRank) and outlines it. Deterministic: the same text gives
 * the same report.
 */
import { fromMarkdown } from 'mdast-util-from-markdown';
import { toString as textOf } from 'mdast-util-to-string';
import { ExecutionFailure, type ExecutionOutput, type ExecutionRequest } from '../../sdk/creator/creator.ts';
import { lexRank } from './lexrank.ts';

const MAX_CHARACTERS = 200_000;
const MAX_SENTENCES = 1000;
/** The Markdown parser's time grows with the square of the lines. */
const MAX_LINES = 5_000;
const MAX_HEADING_CHARACTERS = 200;
/** Silent reading of English non-fiction by adults (Brysbaert 2019, Journal of Memory and Language 109). */
const WORDS_PER_MINUTE = 238;
const KEY_SENTENCE_METHOD = 'LexRank (extractive): idf-modified cosine above 0.1, damping 0.85';

/** Letters and digits, joined by an apostrophe or hyphen, or by the point or comma of a number. */
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+|(?<=\p{N})[.,]\p{N}+)*/gu;
/** Scripts that write no spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const WORDS = new Intl.Segmenter('en', { granularity: 'word' });
const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });
/** Characters that the segmenter gets at once; more if they are one sentence. */
const WINDOW = 2_000;
const MAX_WINDOW = 16_000;
/** A point after these does not end a sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Dra|Sr|Sra|Ud|Prof|St|No|vs|cf|e\.g|i\.e|\p{Lu})\. $/u;
/** The segmenter lets these points end no sentence, and gives opening quotes to the sentence before. */
const ELLIPSIS = /(?<=…["”’)\]]{0,4} )(?=["“‘([¿¡]{0,4}\p{Lu})/u;
const OPENING = /[“‘「『《（]{0,4}$/u;
/**
 * Markdown that is left as it is: quotes, lists and indented text, which may be plain text, and what stands within a
 * line, which takes the parser long in a long text.
 */
const NOT_BLOCKS = [
  'attention',
  'autolink',
  'blockQuote',
  'characterEscape',
  'characterReference',
  'codeIndented',
  'codeText',
  'definition',
  'hardBreakEscape',
  'htmlText',
  'labelEnd',
  'labelStartImage',
  'labelStartLink',
  'list',
] as const;

type Block = { kind: 'heading'; level: number; text: string } | { kind: 'paragraph'; text: string };

/** Returns the report as JSON text. Throws ExecutionFailure for invalid parameters. */
export function reportOnText({ parameters }: ExecutionRequest): ExecutionOutput {
  const { text, sentences: wanted = 3 } = parameters;
  if (typeof text !== 'string' || text.trim() === '')
    throw new ExecutionFailure('parameters.text must be a non-empty string');
  if (text.length > MAX_CHARACTERS)
    throw new ExecutionFailure(`parameters.text is longer than ${MAX_CHARACTERS} characters`);
  if (typeof wanted !== 'number' || !Number.isInteger(wanted) || wanted < 1 || wanted > 10) {
    throw new ExecutionFailure('parameters.sentences must be an integer from 1 to 10');
  }
  const lines = text.split(/\r\n?|\n/);
  if (lines.length > MAX_LINES)
    throw new ExecutionFailure(`parameters.text has ${lines.length} lines, more than ${MAX_LINES}`);
  // Some editors begin a file with a byte order mark.
  const blocks = splitBlocks(lines.join('\n').replace(/^\ufeff/, ''));
  const paragraphs = blocks.filter((block) => block.kind === 'paragraph');
  const sentences = paragraphs.flatMap((paragraph) => splitSentences(paragraph.text));
  if (sentences.length > MAX_SENTENCES) {
    throw new ExecutionFailure(`parameters.text has ${sentences.length} sentences, more than ${MAX_SENTENCES}`);
  }
  const report = {
    statistics: measure(text, blocks, sentences),
    key_sentences: { method: KEY_SENTENCE_METHOD, sentences: keySentences(sentences, wanted) },
    outline: blocks.map(outlineEntry),
  };
  return { result: JSON.stringify(report) };
}

/** Counts. Sentence counts exclude headings; word counts include them. */
function measure(text: string, blocks: Block[], sentences: string[]) {
  const words = splitWords(text);
  const lengths = sentences.map((sentence) => splitWords(sentence).length);
  return {
    characters: [...text].length,
    words: words.length,
    reading_seconds: Math.round((words.length / WORDS_PER_MINUTE) * 60),
    unique_words: new Set(words).size,
    sentences: sentences.length,
    paragraphs: blocks.filter((block) => block.kind === 'paragraph').length,
    headings: blocks.filter((block) => block.kind === 'heading').length,
    average_sentence_words: round(lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)),
    longest_sentence_words: lengths.reduce((longest, length) => Math.max(longest, length), 0),
  };
}

/** The `wanted` most central sentences in the order of the text: `position` counts from 1, a `score` of 1 is average. */
function keySentences(sentences: string[], wanted: number) {
  const scores = lexRank(sentences.map(splitWords));
  return sentences
    .map((text, index) => ({ position: index + 1, score: scores[index]! * sentences.length, text }))
    .sort((a, b) => b.score - a.score || a.position - b.position)
    .slice(0, wanted)
    .sort((a, b) => a.position - b.position)
    .map((sentence) => ({ ...sentence, score: round(sentence.score) }));
}

/** A heading unchanged; a paragraph as its first sentence and its size. */
function outlineEntry(block: Block) {
  if (block.kind === 'heading') return block;
  const sentences = splitSentences(block.text);
  return {
    kind: block.kind,
    opening: sentences[0] ?? block.text,
    sentences: sentences.length,
    words: splitWords(block.text).length,
  };
}

/** Headings (Markdown's two forms, or a short single line without sentence end) and the paragraphs between. */
function splitBlocks(text: string): Block[] {
  const nodes = fromMarkdown(text, { extensions: [{ disable: { null: [...NOT_BLOCKS] } }] }).children;
  const blocks: Block[] = [];
  for (const [index, node] of nodes.entries()) {
    // Code and HTML are not sentences.
    if (node.type !== 'heading' && node.type !== 'paragraph') continue;
    const part = text.slice(node.position!.start.offset, node.position!.end.offset).trim();
    if (!/[\p{L}\p{N}]/u.test(part)) continue;
    const isShort = part.length <= MAX_HEADING_CHARACTERS;
    if (node.type === 'heading' && isShort) {
      blocks.push({ kind: 'heading', level: node.depth, text: plainText(part) });
    } else if (node.type === 'paragraph' && isShort && index < nodes.length - 1 && looksLikeHeading(part)) {
      blocks.push({ kind: 'heading', level: blocks.length === 0 ? 1 : 2, text: plainText(part) });
    } else blocks.push({ kind: 'paragraph', text: part.replace(/\s+/g, ' ') });
  }
  return blocks;
}

/** Short Markdown without its marks. */
const plainText = (markdown: string): string => textOf(fromMarkdown(markdown)).replace(/\s+/g, ' ').trim();

function looksLikeHeading(part: string): boolean {
  if (part.length > 80 || part.includes('\n') || /^(?:[-+>|]|\*\s)/.test(part)) return false;
  const line = plainText(part);
  return !/[.!?,;:…。！？：，"”’)]$/.test(line) && splitWords(line).length <= 12;
}

/** Sentences by Unicode's rules, in windows: the segmenter's time grows with the square of the text. */
function splitSentences(paragraph: string): string[] {
  const pieces: string[] = [];
  for (let start = 0, size = WINDOW; start < paragraph.length; ) {
    const window = paragraph.slice(start, start + size);
    const segments = [...SENTENCES.segment(window)].map(({ segment }) => segment);
    const isLast = start + size >= paragraph.length;
    // The end of the window may have cut its last sentence.
    if (!isLast && segments.length > 1) segments.pop();
    else if (!isLast && size < MAX_WINDOW) {
      size *= 2;
      continue;
    }
    pieces.push(...segments);
    start += segments.join('').length;
    size = WINDOW;
  }
  const sentences: string[] = [];
  let sentence = '';
  for (const piece of pieces.flatMap((one) => one.split(ELLIPSIS))) {
    sentence += piece;
    const end = sentence.slice(-8);
    if (ABBREVIATION.test(end)) continue;
    const [opening] = OPENING.exec(end)!;
    sentences.push(sentence.slice(0, sentence.length - opening.length).trim());
    sentence = opening;
  }
  return [...sentences, sentence.trim()].filter((one) => one !== '');
}

/** Words in lower case, without punctuation. */
function splitWords(text: string): string[] {
  const words = text.normalize().toLowerCase().match(WORD) ?? [];
  return words.flatMap((word) => (UNSPACED.test(word) ? splitUnspaced(word) : [word]));
}

/** The words of a script that writes no spaces. */
function splitUnspaced(run: string): string[] {
  const parts = run.match(/.{1,500}/gsu) ?? [];
  return parts.flatMap((part) => [...WORDS.segment(part)].map(({ segment }) => segment));
}

/** Rounds to two decimals: these figures are not more exact. */
function round(value: number): number {
  return Math.round(value * 100) / 100;
}
