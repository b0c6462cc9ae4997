/** Regular expressions from strangers, run by RE2: their time is linear in the text, for every expression. */
import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { RE2JS } from 're2js';

/** Longest `pattern`. The longest that zod emits, for dates, has 250 characters. */
const MAX_PATTERN_LENGTH = 1_000;

export interface Pattern {
  test(text: string): boolean;
  /** Number of compiled instructions: memory, and worst-case time per character. */
  size: number;
}

/** The compiled expression, or why it is not allowed. */
export function readPattern(source: string): Pattern | string {
  if (source.length > MAX_PATTERN_LENGTH) return `must be at most ${MAX_PATTERN_LENGTH} characters`;
  const pattern = attempt(() => compile(source));
  const read =
    typeof pattern === 'string' && /\(\?[=!]/.test(source) ? attempt(() => compileReversed(source)) : pattern;
  if (typeof read !== 'string') return read;
  return `must be a regular expression that RE2 can read: no backreferences, and not lookahead and lookbehind together (${read})`;
}

/** The compiled expression, or why there is none. */
function attempt(compiled: () => Pattern): Pattern | string {
  try {
    return compiled();
  } catch (error) {
    const { message } = error as Error;
    return message.replace(/^(error parsing regexp|Invalid regular expression: \/.*\/u?): /s, '').slice(0, 120);
  }
}

/** Throws if RE2 cannot read it. */
function compile(source: string): Pattern {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(source), RE2JS.LOOKBEHINDS);
  return { test: (text) => compiled.test(text), size: compiled.programSize() };
}

/**
 * RE2 looks behind in linear time, but not ahead. So an expression with lookaheads is read from its end to its start,
 * and so is the text: each lookahead becomes a lookbehind. Throws if RE2 cannot read that either.
 */
function compileReversed(source: string): Pattern {
  const { test, size } = compile(reversed(parse(source)));
  return { test: (text) => test([...text.toWellFormed()].reverse().join('')), size };
}

/** By the grammar of the flag u. Else by the lenient one, if the two agree on what one character is. */
function parse(source: string): AST.Pattern {
  const parser = new RegExpParser();
  const read = (unicode: boolean) => parser.parsePattern(source, 0, source.length, { unicode });
  try {
    return read(true);
  } catch (error) {
    if (/[\ud800-\udfff]|\\[pPu]\{/.test(source)) throw error;
    return read(false);
  }
}

/** The expression for reversed texts. Throws for what has none. */
function reversed(node: AST.Pattern | AST.Alternative | AST.Element): string {
  switch (node.type) {
    case 'Pattern':
    case 'CapturingGroup':
      return `(?:${eitherOf(node)})`;
    case 'Group':
      return `(?${node.modifiers?.raw ?? ''}:${eitherOf(node)})`;
    case 'Alternative':
      return node.elements.map(reversed).reverse().join('');
    case 'Quantifier':
      return `(?:${reversed(node.element)})${node.raw.slice(node.element.raw.length)}`;
    case 'Assertion':
      if (node.kind === 'word') return node.raw;
      if (node.kind === 'start') return '$';
      if (node.kind === 'end') return '^';
      if (node.kind === 'lookahead') return `(?<${node.negate ? '!' : '='}${eitherOf(node)})`;
      throw new Error('a lookbehind beside a lookahead');
    case 'Character':
      // In another order, the texts of two other characters could be the text of something else.
      return /^[a-z0-9]$/i.test(node.raw) ? node.raw : `\\u{${node.value.toString(16)}}`;
    case 'CharacterClass':
      // zod emits this property for emoji, and RE2 lacks it.
      return node.raw.replace('\\p{Regional_Indicator}', '\\u{1F1E6}-\\u{1F1FF}');
    case 'CharacterSet':
      return node.raw;
    default:
      throw new Error('a backreference');
  }
}

const eitherOf = ({ alternatives }: { alternatives: AST.Alternative[] }): string =>
  alternatives.map(reversed).join('|');
