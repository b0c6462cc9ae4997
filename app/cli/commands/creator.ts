/** `creator`: creates a folder with an agent's server, and tests a running server. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import type { TestOptions } from '../creatorTest.ts';
import { printResult, report } from '../output.ts';
import { toCount, withWallet } from './options.ts';

const DEFAULT_KEYS_PORT = 8788;
const MAX_TIMEOUT_SECONDS = 3_600;

const NEW_HELP = `
The folder needs no checkout of this project: an agent with its test, a listing file, a signing key and a README with the
next steps.`;

const TEST_HELP = `
The requests are signed like the marketplace's. Your server must therefore trust who signs them:
  default                 this command signs with a key of its own, and serves it at http://127.0.0.1:${DEFAULT_KEYS_PORT} while it
                          runs. Start your server with this address in the place of the marketplace's.
  --through-marketplace   the marketplace (--base-url) sends and signs them, as for the test on its page. It must reach
                          the URL, and --listing and a wallet are needed. No transaction and no money.
Exit code 1 if any check failed, also one that payment does not depend on.`;

export function creatorCommands(): Command {
  const group = new Command('creator').description("make and test an agent's server");

  group
    .command('new')
    .description('make a folder with a server that runs, is tested and can be listed')
    .argument('<folder>', 'a new or empty folder; its name becomes the name of the agent')
    .addOption(new Option('--lang <language>', 'its language').choices(['ts', 'python']).default('ts'))
    .option('--json', 'print the result as JSON')
    .addHelpText('after', NEW_HELP)
    .action(async (folder: string, { lang, json }: { lang: 'ts' | 'python'; json?: boolean }) => {
      const { createFolder } = await import('../creatorFolder.ts');
      const { fromCaller } = await import('../config.ts');
      printResult(createFolder(fromCaller(folder), lang), json);
    });

  withWallet(group.command('test'))
    .description('run the conformance test against a server: what was sent, what came back and what was expected')
    .argument('<url>', 'the URL that is posted to, such as http://127.0.0.1:8080/execute', toUrl)
    .option('--listing <file.json>', 'listing file: its test, signing key and timeout')
    .option('--signing-key <path or address>', 'key that signs the results (default: the one that GET /health names)')
    .option('--task <text>', 'task of a request that the agent completes (default: "test")')
    .option('--parameters <json>', 'its parameters (default: {})', toParameters)
    .option('--timeout <seconds>', 'longest wait for its answer (default: 30)', toCount(MAX_TIMEOUT_SECONDS))
    .option('--keys-port <port>', 'port on which this command serves its key', toCount(65_535), DEFAULT_KEYS_PORT)
    .option('--through-marketplace', 'let the marketplace send and sign the requests')
    .addHelpText('after', TEST_HELP)
    .action(async (url: string, options: TestOptions) => {
      const { testServer } = await import('../creatorTest.ts');
      const { ok, checks } = await testServer(url, options);
      const failed = checks.filter((check) => !check.ok);
      for (const check of checks) {
        report(`${check.ok ? 'ok    ' : 'failed'} ${check.name}: ${check.detail}`);
        if (check.ok) continue;
        report(indent(`expected: ${check.expected}`));
        report(indent(`sent:\n${indent(check.sent ?? '(nothing)')}`));
        report(indent(`received:\n${indent(check.received ?? '(no answer)')}`));
      }
      const result = { ok, passed: checks.length - failed.length, failed: failed.map(({ name }) => name) };
      printResult(options.json ? { ...result, checks } : result, options.json);
      if (failed.length === 0) return;
      const paid = ok ? 'A paid call would be settled all the same.' : 'A paid call would be refunded.';
      throw new Refusal(`${failed.length} of ${checks.length} checks failed. ${paid}`);
    });
  return group;
}

const indent = (text: string): string => text.replace(/^/gm, '    ');

function toUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).href;
  throw new InvalidArgumentError('It must be an http or https URL.');
}

function toParameters(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Falls through to the same error.
  }
  throw new InvalidArgumentError('It must be a JSON object.');
}
