/**
 * LexRank (Erkan and Radev, "LexRank: Graph-based Lexical Centrality as Salience in Text Summarization", JAIR 22,
 * 2004): a sentence is central if it resembles many central sentences. It only ranks existing sentences, so it invents
 * nothing, and it needs no word list of any language.
 */

/** Sentences whose idf-modified cosine is above this are neighbours: the threshold that the paper found best. */
const SIMILARITY_THRESHOLD = 0.1;
/** Chance of jumping to any sentence instead of a neighbour, within the paper's 0.1 to 0.2. */
const JUMP = 0.15;
const TOLERANCE = 1e-6;
const MAX_ROUNDS = 200;

/** The centrality of each sentence, given as its words. The scores sum to 1. */
export function lexRank(sentences: readonly (readonly string[])[]): number[] {
  const neighbours = neighboursOf(sentences);
  const count = sentences.length;
  let scores = new Array<number>(count).fill(1 / count);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = new Array<number>(count).fill(JUMP / count);
    for (const [index, around] of neighbours.entries()) {
      const share = ((1 - JUMP) * scores[index]!) / around.length;
      for (const neighbour of around) next[neighbour]! += share;
    }
    const change = next.reduce((sum, score, index) => sum + Math.abs(score - scores[index]!), 0);
    scores = next;
    if (change < TOLERANCE) break;
  }
  return scores;
}

/** For each sentence the similar ones, including itself, so every sentence has a neighbour. */
function neighboursOf(sentences: readonly (readonly string[])[]): number[][] {
  const weights = tfIdf(sentences);
  const norms = weights.map((vector) => Math.hypot(...vector.values()));
  // The sentences that contain each word: only pairs with a common word are compared.
  const postings = new Map<string, number[]>();
  for (const [index, vector] of weights.entries()) {
    for (const word of vector.keys()) {
      const holders = postings.get(word);
      if (holders) holders.push(index);
      else postings.set(word, [index]);
    }
  }
  return weights.map((vector, index) => {
    const products = new Map<number, number>();
    for (const [word, weight] of vector) {
      for (const other of postings.get(word)!) {
        products.set(other, (products.get(other) ?? 0) + weight * weights[other]!.get(word)!);
      }
    }
    const around = [...products].filter(
      ([other, product]) => other !== index && product > SIMILARITY_THRESHOLD * norms[index]! * norms[other]!,
    );
    return [index, ...around.map(([other]) => other)];
  });
}

/** Per sentence: word to term frequency times log(sentences / sentences with the word), without words of weight 0. */
function tfIdf(sentences: readonly (readonly string[])[]): Map<string, number>[] {
  const frequency = new Map<string, number>();
  for (const words of sentences) {
    for (const word of new Set(words)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  }
  return sentences.map((words) => {
    const vector = new Map<string, number>();
    for (const word of words) {
      const idf = Math.log(sentences.length / frequency.get(word)!);
      if (idf > 0) vector.set(word, (vector.get(word) ?? 0) + idf);
    }
    return vector;
  });
}
