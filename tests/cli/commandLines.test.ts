/** Commands of the project print help, and refuse an unknown word or option with exit code 2. */
import { expect } from 'chai';
import { run } from '../harness/edge/tools.ts';
import { ROOT } from '../local/start.ts';

/**
 * Words that a command refuses. All but the CLI parse their command line with the same function, so few are enough. The
 * help of the CLI is read by help.test.ts. The image of apart.test.ts prints that of the relay, the indexer and the
 * drill.
 */
const COMMANDS: Record<string, string[][]> = {
  'app/local/main.ts': [],
  'app/relay/main.ts': [['restore', 'a', 'b']],
  'scripts/migrate.ts': [],
  'scripts/test.ts': [['unheard-of'], ['--unheard-of']],
  'scripts/buildProgram.ts': [],
  'scripts/check.ts': [],
  'bench/main.ts': [],
  'scripts/mutate.ts': [],
  'scripts/count.ts': [],
};

describe('command lines', function () {
  this.timeout(600_000);
  const runs = (file: string, ...words: string[]) =>
    run(process.execPath, ['scripts/run.mjs', file, ...words], { cwd: ROOT });

  for (const [file, refused] of Object.entries(COMMANDS)) {
    it(`${file} prints its help and refuses unknown words`, async () => {
      // The first run bundles the modules; the others reuse the bundle.
      const help = await runs(file, '--help');
      expect([help.code, help.output.includes('npm ')], help.output).to.deep.equal([0, true]);
      for (const words of refused) {
        const { code, output } = await runs(file, ...words);
        expect(code, output).to.equal(2);
        expect(output).to.include(words.join(' '));
      }
    });
  }
});
