/** Every command of the project prints help, and refuses an unknown word or option with exit code 2. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '..', '..');
/** These parse their command line with the same function as `start`, which refuses unknown words for all of them. */
const AS_START = ['relay', 'indexer', 'drill', 'migrate', 'bench', 'fuzz', 'chaos', 'mutate', 'count'];
/** The commands as in package.json. */
const COMMANDS: Record<string, string> = {
  start: 'app/local/main.ts',
  relay: 'app/relay/main.ts',
  indexer: 'indexer/main.ts',
  cli: 'app/cli/main.ts',
  drill: 'scripts/drill.ts',
  migrate: 'scripts/migrate.ts',
  test: 'scripts/test.ts',
  'build:program': 'scripts/buildProgram.ts',
  check: 'scripts/check.ts',
  bench: 'bench/main.ts',
  fuzz: 'scripts/fuzz.ts',
  chaos: 'scripts/chaos.ts',
  mutate: 'scripts/mutate.ts',
  count: 'scripts/count.ts',
};

async function run(file: string, ...words: string[]) {
  const child = spawn(process.execPath, ['scripts/run.mjs', file, ...words], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, out: await out, err: await err };
}

describe('command lines', function () {
  this.timeout(600_000);

  for (const [name, file] of Object.entries(COMMANDS)) {
    it(`npm ${['start', 'test'].includes(name) ? '' : 'run '}${name} prints its help and refuses unknown words`, async () => {
      // The first run bundles the modules; the others reuse the bundle.
      const help = await run(file, '--help');
      const words = AS_START.includes(name) ? [] : ['unheard-of', '--unheard-of'];
      const refused = await Promise.all(words.map((word) => run(file, word)));
      expect(help.code, help.err).to.equal(0);
      expect(help.out).to.include('npm ');
      for (const [index, { code, err }] of refused.entries()) {
        expect(code, err).to.equal(2);
        expect(err).to.include(words[index]);
      }
    });
  }

  it('npm run relay -- COMMAND refuses unknown and extra words', async () => {
    const lines = [
      ['backup', 'a'],
      ['restore', 'a', 'b'],
      ['reconcile', 'now'],
    ];
    for (const { code, err } of await Promise.all(lines.map((words) => run('app/relay/main.ts', ...words)))) {
      expect(code, err).to.equal(2);
      expect(err).to.match(/unknown argument: (backup a|restore a b|reconcile now)/);
    }
  });
});
