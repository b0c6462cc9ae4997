/** text-report: measures a text, quotes its key sentences and outlines it. The same text gives the same report. */
import { ExecutionFailure, type ExecutionOutput, type ExecutionRequest } from '../../sdk/creator/creator.ts';

const MAX_CHARACTERS = 200_000;
const MAX_SENTENCES = 1000;
/** Silent reading of English non-fiction by adults (Brysbaert 2019, Journal of Memory and Language 109). */
const WORDS_PER_MINUTE = 238;
const KEY_SENTENCE_METHOD = 'centroid (extractive): mean tf-idf of the words of a sentence';

/** Letters and digits, joined by an apostrophe or hyphen, or by the point or comma of a number. */
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+|(?<=\p{N})[.,]\p{N}+)*/gu;
const PIECE = /[^.!?…。！？]+(?:[.!?…。！？]+["”’」』)\]]*\s*)?|[.!?…。！？]+/gu;
/** A point is an end only before a space; the marks of Chinese and Japanese always are. */
const END = /\s$|[。！？]["”’」』)\]]*$/u;
const HEADING = /^(#{1,6}) +(\S.*)$/;

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
  const sentences = blocks.flatMap((block) => (block.kind === 'paragraph' ? splitSentences(block.text) : []));
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
    longest_sentence_words: Math.max(0, ...lengths),
  };
}

/** The `wanted` best sentences in the order of the text: `position` counts from 1. */
function keySentences(sentences: string[], wanted: number) {
  const words = sentences.map(splitWords);
  const count = (lists: Iterable<string>[]) => {
    const counts = new Map<string, number>();
    for (const list of lists) for (const word of list) counts.set(word, (counts.get(word) ?? 0) + 1);
    return counts;
  };
  const [frequency, holders] = [count(words), count(words.map((list) => new Set(list)))];
  // A word of every sentence says nothing about one of them.
  const weightOf = (word: string) => frequency.get(word)! * Math.log(sentences.length / holders.get(word)!);
  return sentences
    .map((text, index) => {
      const sum = words[index]!.reduce((total, word) => total + weightOf(word), 0);
      return { position: index + 1, score: round(sum / Math.max(1, words[index]!.length)), text };
    })
    .sort((a, b) => b.score - a.score || a.position - b.position)
    .slice(0, wanted)
    .sort((a, b) => a.position - b.position);
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

/** Markdown's headings, and the paragraphs between blank lines. */
function splitBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  const endParagraph = () => {
    const paragraph = lines.join(' ').replace(/\s+/g, ' ').trim();
    if (/[\p{L}\p{N}]/u.test(paragraph)) blocks.push({ kind: 'paragraph', text: paragraph });
    lines = [];
  };
  for (const line of [...text.split(/\r\n?|\n/), '']) {
    const [, marks, title] = HEADING.exec(line) ?? [];
    if (marks || line.trim() === '') endParagraph();
    else lines.push(line);
    if (marks && title) blocks.push({ kind: 'heading', level: marks.length, text: title.trim() });
  }
  return blocks;
}

function splitSentences(paragraph: string): string[] {
  const sentences: string[] = [];
  let isOpen = false;
  for (const piece of paragraph.match(PIECE) ?? []) {
    if (isOpen) sentences.push(sentences.pop() + piece);
    else sentences.push(piece);
    isOpen = !END.test(piece);
  }
  return sentences.map((sentence) => sentence.trim());
}

/** Words in lower case, without punctuation. */
const splitWords = (text: string): string[] => text.normalize().toLowerCase().match(WORD) ?? [];

/** Rounds to two decimals: these figures are not more exact. */
const round = (value: number): number => Math.round(value * 100) / 100;
