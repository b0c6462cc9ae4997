/** `keys create` and `keys rotate`: create an API key and show it once. */
import { type Command, Option } from 'commander';
import { constants } from '../../sdk/program/constants.ts';
import type { KeyResult } from '../../sdk/wallet/apiKeys.ts';
import type { KeyScope } from '../../sdk/wire/keyScopes.ts';
import { formatUsdc } from '../../sdk/wire/usdc.ts';
import type { CommonOptions } from '../config.ts';
import { printResult, report } from '../output.ts';
import {
  DAY_SECONDS,
  expiryAfter,
  type LimitOptions,
  MAX_DAYS,
  type RestrictionOptions,
  readRestrictions,
  toGas,
  toKeyId,
  toName,
  toPeriod,
  withRestrictions,
} from './keyOptions.ts';
import { open, readWallet, toAmount, toCount, toSol, U32_MAX, withWallet } from './options.ts';

interface CreateOptions extends CommonOptions, LimitOptions, RestrictionOptions {
  name: string;
  allowance?: bigint;
  replaceDelegate?: boolean;
  gas?: bigint;
}

export function addCreate(group: Command): void {
  withRestrictions(withWallet(group.command('create')))
    .description('create an API key with limits that the chain enforces')
    .requiredOption('--name <name>', 'a name for the key', toName)
    .option('--per-execution <usdc>', 'maximum price of one execution', toAmount, 10_000_000n)
    .option('--per-period <usdc>', 'limit for one period', toAmount, 50_000_000n)
    .option('--period-seconds <n>', 'length of a period', toCount(U32_MAX), DAY_SECONDS)
    .option('--total <usdc>', 'limit in total', toAmount, 100_000_000n)
    .option('--expires-in-days <n>', `days until the key expires, at most ${MAX_DAYS}`, toCount(MAX_DAYS), 90)
    .option(
      '--max-gas <lamports>',
      "maximum that one execution may take from the wallet's gas balance",
      toGas,
      constants.defaultMaxGasLamports,
    )
    .option(
      '--allowance <usdc>',
      'allowance that all keys of the wallet share (default: raised to twice --total if it is lower, because refunded calls use it up too)',
      toAmount,
    )
    .option(
      '--gas <sol>',
      "add this much to the wallet's gas balance in the same transaction (default: 0.0045 if it is empty, which pays for about 200 calls; 0: nothing)",
      toSol,
    )
    .option('--replace-delegate', "replace another delegate of the wallet's USDC account")
    .configureHelp({
      // Limits are base units inside; help shows USDC.
      optionDescription: ({ description, defaultValue }) => {
        if (defaultValue === undefined) return description;
        return `${description} (default: ${typeof defaultValue === 'bigint' ? formatUsdc(defaultValue) : defaultValue})`;
      },
    })
    .action(async (options: CreateOptions) => {
      const { createKey } = await import('../../sdk/wallet/apiKeys.ts');
      const { firstGas } = await import('../../sdk/wallet/gas.ts');
      const wallet = await readWallet(options);
      const marketplace = await open(options);
      const { name, allowance, replaceDelegate } = options;
      const limits = {
        perExecutionMax: options.perExecution,
        periodMax: options.perPeriod,
        totalMax: options.total,
        periodSeconds: options.periodSeconds,
        expiresAt: await expiryAfter(marketplace.connection, options.expiresInDays),
        maxGasLamports: options.maxGas,
      };
      const restrictions = readRestrictions(options);
      const gas = options.gas ?? (await firstGas(marketplace.connection, wallet.publicKey));
      const key = {
        wallet,
        name,
        limits,
        onProgress: report,
        ...(allowance && { allowance }),
        ...(gas && { gas }),
        ...(replaceDelegate && { replaceDelegate }),
        ...(Object.keys(restrictions).length > 0 && { restrictions }),
      };
      await printKey(options.json, (onGranted) => createKey(marketplace, key, onGranted));
    });
}

export function addRotate(group: Command): void {
  withWallet(group.command('rotate'))
    .description(
      'create a new key with the limits and restrictions of an old one, which is revoked after a grace period',
    )
    .argument('<key_id>', 'the old key, as `keys list` shows it', toKeyId)
    .addOption(
      new Option('--grace <period>', 'how long the old key still works, such as 30m, 24h or 7d')
        .argParser(toPeriod)
        .default(DAY_SECONDS, '24h'),
    )
    .action(async (keyId: string, options: CommonOptions & { grace: number }) => {
      const { rotateKey } = await import('../../sdk/wallet/apiKeys.ts');
      const wallet = await readWallet(options);
      const marketplace = await open(options);
      const rotation = { wallet, keyId, graceSeconds: options.grace, onProgress: report };
      await printKey(options.json, (onGranted) => rotateKey(marketplace, rotation, onGranted));
    });
}

/** The power of each scope, after "it". */
const POWERS: Record<KeyScope, string> = {
  execute: 'spends money from your wallet',
  read: 'reads your calls and their results',
  webhooks: 'manages where events of your wallet are sent',
};

/** Prints a new key even if a later step fails: the key may already spend, so its owner must have it. */
async function printKey(
  json: boolean | undefined,
  make: (onGranted: (apiKey: string) => void) => Promise<KeyResult>,
): Promise<void> {
  let unregistered: string | null = null;
  try {
    const result = await make((apiKey) => {
      unregistered = apiKey;
    });
    const powers = result.scopes.map((scope) => POWERS[scope]).join(', ');
    report(`Keep the key secret: it ${powers}. It is shown only once.`);
    printResult(result, json);
  } catch (error) {
    if (unregistered !== null) printResult({ api_key: unregistered }, json);
    throw error;
  }
}
