/** Who may import whom: the arrows of the house, read from the import lines themselves. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '..');
const places = ['app/sdk', 'app/relay', 'app/cli', 'app/local/creators', 'app/local', 'indexer', 'migrations'];

/** Places each place may import besides itself; a more exact rule follows below where a whole place is too much. */
const ALLOWED: Record<string, string[]> = {
  'app/sdk': [],
  indexer: ['app/sdk'],
  'app/relay': ['app/sdk', 'indexer'],
  'app/cli': ['app/sdk'],
  'app/local/creators': ['app/sdk'],
  'app/local': ['app/sdk', 'app/relay', 'app/cli', 'app/local/creators', 'indexer', 'migrations'],
  migrations: ['app/sdk'],
};

const placeOf = (path: string): string | undefined =>
  places.find((place) => path === place || path.startsWith(`${place}/`));

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|tsx|mjs)$/.test(name))
    .map((name) => join(folder, name).split(sep).join('/'));
}

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found = [...text.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'"=;]*?from\s+)?['"](\.[^'"]+)['"]/gm)];
  return found.map((match) => ({
    from: file,
    to: relative(root, resolve(root, dirname(file), match[2]!))
      .split(sep)
      .join('/'),
    typeOnly: match[1] !== undefined,
  }));
}

const imports = ['app', 'indexer', 'migrations'].flatMap(sources).flatMap(importsOf);

describe('architecture', () => {
  it('reads the imports at all', () => {
    expect(imports.length).to.be.greaterThan(100);
  });

  for (const place of places) {
    it(`${place} imports only ${['itself', ...ALLOWED[place]!].join(', ')}`, () => {
      const wrong = imports.filter((line) => {
        const target = placeOf(line.to);
        return placeOf(line.from) === place && target !== place && !ALLOWED[place]!.includes(target ?? '');
      });
      // The command line shares the router's type with the relay, and nothing that runs.
      const allowedTypes = wrong.filter((line) => !(place === 'app/cli' && line.typeOnly));
      expect(allowedTypes.map((line) => `${line.from} -> ${line.to}`)).to.deep.equal([]);
    });
  }

  it('the relay reads the index and never runs its handlers', () => {
    const wrong = imports.filter(
      (line) => placeOf(line.from) === 'app/relay' && /^indexer\/(handlers|apply|ingest|main)\./.test(line.to),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('only the chain module of the relay imports a keypair or sends', () => {
    const users = sources('app/relay').filter((file) =>
      /sendTransaction|sendRawTransaction|Keypair\.from/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(users).to.deep.equal(['app/relay/chain.ts', 'app/relay/config.ts', 'app/relay/rpcCalls.ts']);
  });

  it('only the configuration of a process reads its environment', () => {
    const readers = ['app', 'indexer'].flatMap(sources).filter((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return /process\.env\b/.test(text) && !/\/(config|main)\.ts$/.test(file);
    });
    expect(readers).to.deep.equal([]);
  });
});
