/**
 * Rules for the project's pages. Every command and code block is run by a test or gives a reason. Every link has a
 * target. Every file, script and suite that they name exists.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { expect } from 'chai';
import { EVERYDAY } from '../../scripts/suites/everyday.ts';
import { LONG, ON_AGAVE } from '../../scripts/suites/long.ts';
import { anchorsOf, type Block, blocksOf, linksOf, pagePaths, proseOf, ROOT, readPage } from './markdown.ts';

/** Pages whose blocks are all run by one test, which reads the page itself. */
const RUN_WHOLE: Record<string, string> = {
  'app/client/README.md': 'tests/clients/typescriptPackage.test.ts',
  'app/sdk/README.md': 'tests/sdk/package.test.ts',
  'clients/python/README.md': 'tests/clients/python.test.ts',
};
/** The language of drawings, which cannot be run. */
const DRAWING = 'text';
/** Folders that a page may leave out of a path. */
const SHORT_FOR = ['', 'app/relay/', 'app/sdk/', 'programs/marketplace/src/', 'programs/marketplace/'];

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
/** Text without indentation, which an excerpt need not share with its file. */
const flat = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();

/** The fault of a block, or null. */
function faultOf({ page, language, text, mark }: Block): string | null {
  if (language === '') return 'has no language';
  if (language === DRAWING || /^not run: \S/.test(mark)) return null;
  const said = page in RUN_WHOLE ? `run by ${RUN_WHOLE[page]}` : mark;
  const [, excerpted, test] = /^(?:from (\S+), )?run by (\S+)$/.exec(said) ?? [];
  if (!test)
    return 'is neither run by a test nor says why not: put <!-- run by TEST --> or <!-- not run: WHY --> before it';
  if (!existsSync(join(ROOT, test))) return `is run by ${test}, which does not exist`;
  const name = excerpted ?? (page in RUN_WHOLE ? basename(page) : page);
  if (!read(test).includes(name)) return `is run by ${test}, which does not name ${name}`;
  if (excerpted && !flat(read(excerpted)).includes(flat(text))) return `is not a piece of ${excerpted}`;
  return null;
}

/** The fault of a link, or null. Links to other sites are not checked. */
function deadEnd(page: string, link: string): string | null {
  if (/^[a-z]+:/.test(link)) return null;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(ROOT, target))) return `${link}: there is no ${target}`;
  if (anchor !== undefined && !anchorsOf(target).includes(anchor)) return `${link}: ${target} has no such heading`;
  return null;
}

/** Words in code style. */
const codeOf = (page: string): string[] => [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);

/** The tree's own folders, and the files of the root. */
const PATH =
  /^(?:(?:app|bench|docs|examples|indexer|migrations|programs|scripts|tests)\/[\w./-]*|[\w/-]+\.(?:ts|rs|mjs|sql|toml)|[a-z]+\/)$/;

describe('the pages', () => {
  const pages = pagePaths();

  for (const page of pages) {
    it(`${page}: every block is run by a test, or names a reason`, () => {
      const faults = blocksOf(page).flatMap((block) => {
        const fault = faultOf(block);
        return fault === null ? [] : [`${page}:${block.line} ${fault}`];
      });
      expect(faults).to.deep.equal([]);
    });

    it(`${page}: every link has a target`, () => {
      expect(linksOf(page).flatMap((link) => deadEnd(page, link) ?? [])).to.deep.equal([]);
    });

    // A changelog may name files that no longer exist.
    if (page === 'CHANGELOG.md') continue;
    it(`${page}: every file that it names exists`, () => {
      // Builds create target/.
      const named = codeOf(page).filter((word) => PATH.test(word) && !word.startsWith('target/'));
      const missing = named.filter((path) => !SHORT_FOR.some((folder) => existsSync(join(ROOT, folder, path))));
      expect(missing).to.deep.equal([]);
    });
  }

  it('README.md is short, and links to every page', () => {
    expect(readPage('README.md').split('\n').length).to.be.lessThan(165);
    const links = linksOf('README.md');
    for (const page of pages.filter((path) => path.startsWith('docs/') || !path.includes('/'))) {
      if (page !== 'README.md') expect(links).to.include(page);
    }
  });

  it('name only scripts and suites that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const names = [...EVERYDAY, ...ON_AGAVE, ...LONG].map(({ name }) => name);
    for (const page of pages.filter((path) => path !== 'CHANGELOG.md')) {
      const text = readPage(page);
      for (const [, script] of text.matchAll(/npm run ([a-z][a-z:]*)/g))
        expect(scripts, page).to.have.property(script!);
      for (const [, suite] of text.matchAll(/npm test -- ([a-z-]+)/g)) {
        if (suite!.startsWith('--')) continue;
        const isFolder = existsSync(join(ROOT, 'tests', suite!));
        expect(isFolder || names.includes(suite!), `${page}: npm test -- ${suite}`).to.equal(true);
      }
    }
  });
});
