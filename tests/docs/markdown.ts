/** The project's Markdown for tests: its pages, their code blocks, the mark before each block, and their links. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');
/** Folders whose pages are read. */
const FOLDERS = ['docs', 'examples', 'app/client', 'app/sdk', 'app/mcp', 'clients/python', '.'];

export interface Block {
  page: string;
  /** Line of its first fence, starting with 1. */
  line: number;
  /** The text after the first fence. */
  language: string;
  text: string;
  /** The comment on the line before, without its brackets; empty if there is none. */
  mark: string;
}

/** Paths from the root, such as `docs/callers.md`. */
export function pagePaths(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => (folder === '.' ? name : `${folder}/${name}`)),
  ).sort();
}

export const readPage = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** The page's fenced blocks, also those indented in a list. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  let before = '';
  for (const [index, line] of readPage(page).split('\n').entries()) {
    const fence = /^\s*```(.*)$/.exec(line);
    if (fence && open) {
      blocks.push(open);
      open = null;
    } else if (fence) {
      const mark = /^\s*<!-- (.*) -->$/.exec(before)?.[1] ?? '';
      open = { page, line: index + 1, language: fence[1]!.trim(), text: '', mark };
    } else if (open) open.text += `${line}\n`;
    before = line;
  }
  if (open) throw new Error(`${page}:${open.line}: the block has no end`);
  return blocks;
}

/** The page without its blocks. */
export function proseOf(page: string): string {
  return readPage(page).replaceAll(/^\s*```[\s\S]*?^\s*```$/gm, '');
}

/** The targets of the page's links, as written. */
export function linksOf(page: string): string[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
}

/** The anchors of the page's headings, as GitHub generates them. */
export function anchorsOf(page: string): string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
