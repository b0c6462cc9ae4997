/** The project's Markdown as tests read it: its pages, their code blocks with what the mark before each says, their links. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');
/** Folders whose pages are read, beside the root's own. */
const FOLDERS = ['docs', 'examples', 'app/client', 'app/sdk', 'app/mcp', 'clients/python', '.'];

export interface Block {
  page: string;
  /** Of its first fence, from 1. */
  line: number;
  /** What stands behind the first fence. */
  language: string;
  text: string;
  /** The comment on the line before, without its brackets; empty where there is none. */
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

/** The page's fenced blocks, also those that a list indents. */
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

/** Where the page's links lead, as they are written. */
export function linksOf(page: string): string[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
}

/** The names that headings can be reached by, as GitHub makes them. */
export function anchorsOf(page: string): string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
