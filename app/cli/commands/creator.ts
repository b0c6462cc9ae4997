/** `creator`: creates a folder with an agent's server, and tests a running server. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import type { TestOptions } from '../creatorTest.ts';
import { printResult, report } from '../output.ts';
import { toCount, toObject, withWallet } from './options.ts';

const DEFAULT_KEYS_PORT = 8788;
const MAX_TIMEOUT_SECONDS = 3_600;

const NEW_HELP = `
The folder contains an agent with its test, a listing file, a signing key and a README with the next steps. It does not
need a checkout of this project.`;

const TEST_HELP = `
The requests are signed like those of the marketplace, so your server must trust the signing key:
  default                 this command signs with its own key and serves it at http://127.0.0.1:${DEFAULT_KEYS_PORT} while it
                          runs. Start your server with this address as its marketplace URL.
  --through-marketplace   the marketplace (--base-url) signs and sends them, like the test on its page. It must be able
                          to reach the URL. Needs --listing and a wallet; sends no transaction and costs nothing.
Exit code 1 if any check failed, including checks that do not affect payment.`;

export function creatorCommands(): Command {
  const group = new Command('creator').description("create and test an agent's server");

  group
    .command('new')
    .description('create a folder with a server that runs, passes its test and can be listed as an agent')
    .argument('<folder>', 'a new or empty folder; its name becomes the name of the agent')
    .addOption(new Option('--lang <language>', 'language of the server').choices(['ts', 'python']).default('ts'))
    .option('--json', 'print the result as JSON')
    .addHelpText('after', NEW_HELP)
    .action(async (folder: string, { lang, json }: { lang: 'ts' | 'python'; json?: boolean }) => {
      const { createFolder } = await import('../creatorFolder.ts');
      const { fromCaller } = await import('../config.ts');
      printResult(createFolder(fromCaller(folder), lang), json);
    });

  withWallet(group.command('test'))
    .description(
      'run the conformance test against a server; failed checks show the request, the answer and the expected value',
    )
    .argument('<url>', 'URL of the server, such as http://127.0.0.1:8080/execute', toUrl)
    .option('--listing <file.json>', 'listing file: its test, signing key and timeout')
    .option(
      '--signing-key <path or address>',
      'key that signs the results (default: that of --listing, or the one that GET /health names)',
    )
    .option('--task <text>', 'task that the agent can complete (default: that of --listing, or "test")')
    .option('--parameters <json>', 'parameters of that task (default: those of --listing, or {})', toObject)
    .option(
      '--timeout <seconds>',
      'maximum wait for each answer (default: that of --listing, or 30)',
      toCount(MAX_TIMEOUT_SECONDS),
    )
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
      const paid = ok ? 'A paid call would still be settled.' : 'A paid call would be refunded.';
      throw new Refusal(`${failed.length} of ${checks.length} checks failed. ${paid}`);
    });
  return group;
}

const indent = (text: string): string => text.replace(/^/gm, '    ');

function toUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).href;
  throw new InvalidArgumentError('It must be an http or https URL.');
}
