/**
 * text-report: measures a text, quotes its key sentences (LexRank) and outlines it. Deterministic: the same text gives
 * the same report.
 */
import { ExecutionFailure, type ExecutionOutput, type ExecutionRequest } from '../../sdk/creator/creator.ts';
import { lexRank } from './lexrank.ts';

const MAX_CHARACTERS = 200_000;
const MAX_SENTENCES = 1000;
const MAX_HEADING_CHARACTERS = 200;
/** Silent reading of English non-fiction by adults (Brysbaert 2019, Journal of Memory and Language 109). */
const WORDS_PER_MINUTE = 238;
const READING_METHOD =
  'Flesch reading ease and Flesch-Kincaid grade for English, syllables estimated from vowel groups; 238 words a minute';
const KEY_SENTENCE_METHOD = 'LexRank (extractive): idf-modified cosine above 0.1, damping 0.85';

/** Letters and digits, joined by an apostrophe or hyphen, or by the point or comma of a number. */
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+|(?<=\p{N})[.,]\p{N}+)*/gu;
/**
 * The end of a sentence: its marks, closing quotes, a space, and a possible start of the next one. The counts are
 * bounded: otherwise a long run of dots would be searched again from each of its dots.
 */
const SENTENCE_END =
  /[.!?…]{1,8}["'”’)\]]{0,4} (?=["'“‘([]{0,4}[\p{Lu}\p{Lt}\p{Lo}\p{N}])|[。！？]{1,8}[」』”]{0,4} ?/gu;
/** A point after these does not end a sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|cf|e\.g|i\.e|[A-Z])\. $/;

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
  const blocks = splitBlocks(text);
  const paragraphs = blocks.filter((block) => block.kind === 'paragraph');
  const sentences = paragraphs.flatMap((paragraph) => splitSentences(paragraph.text));
  if (sentences.length > MAX_SENTENCES) {
    throw new ExecutionFailure(`parameters.text has ${sentences.length} sentences, more than ${MAX_SENTENCES}`);
  }
  const report = {
    statistics: measure(text, blocks, sentences),
    reading: reading(text, sentences),
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
    unique_words: new Set(words).size,
    sentences: sentences.length,
    paragraphs: blocks.filter((block) => block.kind === 'paragraph').length,
    headings: blocks.filter((block) => block.kind === 'heading').length,
    average_sentence_words: round(lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)),
    longest_sentence_words: lengths.reduce((longest, length) => Math.max(longest, length), 0),
  };
}

function reading(text: string, sentences: string[]) {
  const words = sentences.flatMap(splitWords);
  const wordsPerSentence = words.length / Math.max(1, sentences.length);
  const syllables = words.reduce((sum, word) => sum + countSyllables(word), 0);
  const syllablesPerWord = syllables / Math.max(1, words.length);
  const isMeasurable = words.length > 0;
  return {
    seconds: Math.round((splitWords(text).length / WORDS_PER_MINUTE) * 60),
    flesch_reading_ease: isMeasurable ? round(206.835 - 1.015 * wordsPerSentence - 84.6 * syllablesPerWord) : null,
    flesch_kincaid_grade: isMeasurable ? round(0.39 * wordsPerSentence + 11.8 * syllablesPerWord - 15.59) : null,
    method: READING_METHOD,
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
  const blocks: Block[] = [];
  const chunks = text
    .replace(/\r\n?/g, '\n')
    .replace(/^(#{1,6}[ \t].*)$/gm, '\n$1\n')
    .split(/\n[ \t]*\n/);
  const parts = chunks.map((chunk) => chunk.trim()).filter((chunk) => /[\p{L}\p{N}]/u.test(chunk));
  for (const [index, part] of parts.entries()) {
    const lines = part.split('\n').map((line) => line.trim());
    // Without this limit, a long line could stall the server by the pattern's backtracking.
    const marked = part.length <= MAX_HEADING_CHARACTERS ? /^(#{1,6})[ \t]+(.*?)[ \t]*#*$/.exec(part) : null;
    if (marked && lines.length === 1) {
      blocks.push({ kind: 'heading', level: marked[1]!.length, text: marked[2]! });
      continue;
    }
    const underline = lines[1] ?? '';
    if (/^(=+|-+)$/.test(underline)) {
      blocks.push({ kind: 'heading', level: underline.startsWith('=') ? 1 : 2, text: lines[0]! });
      lines.splice(0, 2);
    } else if (lines.length === 1 && index < parts.length - 1 && looksLikeHeading(part)) {
      blocks.push({ kind: 'heading', level: blocks.length === 0 ? 1 : 2, text: part });
      continue;
    }
    if (lines.length > 0) blocks.push({ kind: 'paragraph', text: lines.join(' ') });
  }
  return blocks;
}

function looksLikeHeading(line: string): boolean {
  return line.length <= 80 && !/^[-*+>|]/.test(line) && !/[.!?,;:…"”’)]$/.test(line) && splitWords(line).length <= 12;
}

/** Splits by punctuation. Intl.Segmenter is better, but its time grows with the square of the text. */
function splitSentences(paragraph: string): string[] {
  const text = paragraph.replace(/\s+/g, ' ');
  const sentences: string[] = [];
  let start = 0;
  for (const match of text.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length;
    if (ABBREVIATION.test(text.slice(Math.max(start, end - 8), end))) continue;
    sentences.push(text.slice(start, end).trim());
    start = end;
  }
  return [...sentences, text.slice(start).trim()].filter((sentence) => sentence !== '');
}

/** Words in lower case, without punctuation. */
function splitWords(text: string): string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

/** Number of vowel groups without a silent final e, at least one. */
function countSyllables(word: string): number {
  const groups = word.match(/[aeiouy]+/g)?.length ?? 0;
  const isSilent = /[^aeiouyl]e$/.test(word) || /[aeiouy]le$/.test(word);
  return Math.max(1, isSilent ? groups - 1 : groups);
}

/** Rounds to two decimals: these figures are not more exact. */
function round(value: number): number {
  return Math.round(value * 100) / 100;
}
