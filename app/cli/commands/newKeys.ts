/** `keys create` and `keys rotate`: the commands that make an API key and show it, once. */
import { type Command, Option } from 'commander';
import { constants } from '../../sdk/program/constants.ts';
import type { KeyResult } from '../../sdk/wallet/apiKeys.ts';
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
  U32_MAX,
  withRestrictions,
} from './keyOptions.ts';
import { open, readWallet, toAmount, toCount, toSol, withWallet } from './options.ts';

interface CreateOptions extends CommonOptions, LimitOptions, RestrictionOptions {
  name: string;
  allowance?: bigint;
  replaceDelegate?: boolean;
  gas?: bigint;
}

export function addCreate(group: Command): void {
  withRestrictions(withWallet(group.command('create')))
    .description('make an API key with limits that the chain enforces')
    .requiredOption('--name <name>', 'by which you will know the key', toName)
    .option('--per-execution <usdc>', 'most that one execution may cost', toAmount, 10_000_000n)
    .option('--per-period <usdc>', 'most that may be spent in one period', toAmount, 50_000_000n)
    .option('--period-seconds <n>', 'length of a period', toCount(U32_MAX), DAY_SECONDS)
    .option('--total <usdc>', 'most that may ever be spent', toAmount, 100_000_000n)
    .option('--expires-in-days <n>', `life of the key, at most ${MAX_DAYS}`, toCount(MAX_DAYS), 90)
    .option(
      '--max-gas <lamports>',
      "most that one execution may take from the wallet's tank",
      toGas,
      constants.defaultMaxGasLamports,
    )
    .option(
      '--allowance <usdc>',
      "what all of the wallet's keys together may spend (default: never less than now)",
      toAmount,
    )
    .option(
      '--gas <sol>',
      "put this much into the wallet's tank in the same transaction; 0.01 is some 800 calls",
      toSol,
    )
    .option('--replace-delegate', "take the place of another delegate of the wallet's USDC account")
    .configureHelp({
      // Limits are base units inside; a person reads USDC.
      optionDescription: ({ description, defaultValue }) => {
        if (defaultValue === undefined) return description;
        return `${description} (default: ${typeof defaultValue === 'bigint' ? formatUsdc(defaultValue) : defaultValue})`;
      },
    })
    .action(async (options: CreateOptions) => {
      const { createKey } = await import('../../sdk/wallet/apiKeys.ts');
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
      const key = {
        wallet,
        name,
        limits,
        onProgress: report,
        ...(allowance && { allowance }),
        ...(options.gas && { gas: options.gas }),
        ...(replaceDelegate && { replaceDelegate }),
        ...(Object.keys(restrictions).length > 0 && { restrictions }),
      };
      await printKey(options.json, (onGranted) => createKey(marketplace, key, onGranted));
    });
}

export function addRotate(group: Command): void {
  withWallet(group.command('rotate'))
    .description('make a new key with the limits and restrictions of an old one, which ends after a grace period')
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

/** Prints a new key, whatever fails after it can spend: then its owner must have it. */
async function printKey(
  json: boolean | undefined,
  make: (onGranted: (apiKey: string) => void) => Promise<KeyResult>,
): Promise<void> {
  let unregistered: string | null = null;
  try {
    const result = await make((apiKey) => {
      unregistered = apiKey;
    });
    report('Keep the key secret: it spends money from your wallet. It is shown only this once.');
    printResult(result, json);
  } catch (error) {
    if (unregistered !== null) printResult({ api_key: unregistered }, json);
    throw error;
  }
}
