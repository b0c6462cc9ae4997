/** `keys`: a caller's API keys, and the files of wallets and signing keys. */
import type { Connection } from '@solana/web3.js';
import { Command, InvalidArgumentError, Option } from 'commander';
import { constants } from '../../sdk/program/constants.ts';
import type { GrantLimits } from '../../sdk/program/program.ts';
import { KEY_SCOPES, type KeyScope } from '../../sdk/receipt/apiKey.ts';
import type { KeyRestrictions, KeyResult } from '../../sdk/wallet/keys.ts';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import { formatUsdc } from '../../sdk/wire/usdc.ts';
import { type CommonOptions, fromCaller, readSettings } from '../config.ts';
import { printResult, printTable, report } from '../output.ts';
import {
  type Address,
  open,
  openOnChain,
  readWallet,
  toAddress,
  toAmount,
  toCount,
  toKeyId,
  withMarketplace,
  withWallet,
} from './options.ts';

const DAY_SECONDS = 86_400;
const MAX_DAYS = constants.maxGrantSeconds / DAY_SECONDS;
const U32_MAX = 2 ** 32 - 1;

/** Amounts are base units. */
interface LimitOptions {
  perExecution: bigint;
  perPeriod: bigint;
  periodSeconds: number;
  total: bigint;
  expiresInDays: number;
}

interface RestrictionOptions {
  scope?: KeyScope[];
  expires?: string;
  allowIp?: string[];
}

interface CreateOptions extends CommonOptions, LimitOptions, RestrictionOptions {
  name: string;
  allowance?: bigint;
  replaceDelegate?: boolean;
}

/** What the marketplace keeps of a key beside its grant. */
function withRestrictions(command: Command): Command {
  return command
    .option('--scope <scopes>', `what it may be used for: ${KEY_SCOPES.join(', ')}, or both by a comma`, toScopes)
    .option('--expires <time>', 'when the marketplace takes it no more, such as 2027-01-31T12:00:00Z', toTime)
    .option('--allow-ip <addresses>', 'from where alone it is taken: addresses or blocks, by commas', toList);
}

function readRestrictions({ scope, expires, allowIp }: RestrictionOptions): KeyRestrictions {
  return {
    ...(scope && { scopes: scope }),
    ...(expires && { expires_at: expires }),
    ...(allowIp && { allowed_ips: allowIp }),
  };
}

export function keysCommands(): Command {
  const group = new Command('keys').description(
    'make, list and end your API keys; make the file of a wallet or signing key',
  );

  group
    .command('new')
    .description('make the file of a new wallet, or of a key that signs results')
    .argument('<file>', 'where to; a file that exists is refused')
    .option('--json', 'print the result as JSON')
    .action(async (path: string, { json }: CommonOptions) => {
      const { createKeyFile } = await import('../wallet.ts');
      const made = createKeyFile(fromCaller(path));
      report('Keep a copy of the file: nobody can make this key again.');
      printResult(made, json);
    });

  withRestrictions(withWallet(group.command('create')))
    .description('make an API key with limits that the chain enforces')
    .requiredOption('--name <name>', 'by which you will know the key', toName)
    .option('--per-execution <usdc>', 'most that one execution may cost', toAmount, 10_000_000n)
    .option('--per-period <usdc>', 'most that may be spent in one period', toAmount, 50_000_000n)
    .option('--period-seconds <n>', 'length of a period', toCount(U32_MAX), DAY_SECONDS)
    .option('--total <usdc>', 'most that may ever be spent', toAmount, 100_000_000n)
    .option('--expires-in-days <n>', `life of the key, at most ${MAX_DAYS}`, toCount(MAX_DAYS), 90)
    .option(
      '--allowance <usdc>',
      "what all of the wallet's keys together may spend (default: never less than now)",
      toAmount,
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
      const { createKey } = await import('../../sdk/wallet/keys.ts');
      const wallet = await readWallet(options);
      const marketplace = await open(options);
      const { name, allowance, replaceDelegate } = options;
      const limits = {
        perExecutionMax: options.perExecution,
        periodMax: options.perPeriod,
        totalMax: options.total,
        periodSeconds: options.periodSeconds,
        expiresAt: await expiryAfter(marketplace.connection, options.expiresInDays),
      };
      const restrictions = readRestrictions(options);
      const key = {
        wallet,
        name,
        limits,
        report,
        ...(allowance && { allowance }),
        ...(replaceDelegate && { replaceDelegate }),
        ...(Object.keys(restrictions).length > 0 && { restrictions }),
      };
      await printKey(options.json, (onGranted) => createKey(marketplace, key, onGranted));
    });

  withWallet(group.command('rotate'))
    .description('make a new key with the limits and restrictions of an old one, which ends after a grace period')
    .argument('<key_id>', 'the old key, as `keys list` shows it', toKeyId)
    .addOption(
      new Option('--grace <period>', 'how long the old key is still taken, such as 30m, 24h or 7d')
        .argParser(toPeriod)
        .default(DAY_SECONDS, '24h'),
    )
    .action(async (keyId: string, options: CommonOptions & { grace: number }) => {
      const { rotateKey } = await import('../../sdk/wallet/keys.ts');
      const wallet = await readWallet(options);
      const marketplace = await open(options);
      const graceSeconds = options.grace;
      await printKey(options.json, (onGranted) =>
        rotateKey(marketplace, { wallet, keyId, graceSeconds, report }, onGranted),
      );
    });

  withRestrictions(withWallet(group.command('restrict')))
    .description('change what the marketplace allows a key, from its next request on')
    .argument('<key_id>', 'as `keys list` shows it', toKeyId)
    .option('--any-ip', 'take it from every address again')
    .option('--no-expiry', 'take it as long as its grant on-chain lives')
    .action(
      async (keyId: string, options: CommonOptions & RestrictionOptions & { anyIp?: boolean; expiry: boolean }) => {
        const { restrictKey } = await import('../../sdk/wallet/keys.ts');
        const restrictions = {
          ...readRestrictions(options),
          ...(options.anyIp && { allowed_ips: null }),
          ...(!options.expiry && { expires_at: null }),
        };
        if (Object.keys(restrictions).length === 0) throw new Refusal('Name what to change; --help lists it.');
        const wallet = await readWallet(options);
        printResult(await restrictKey(await open(options), { wallet, keyId, restrictions }), options.json);
      },
    );

  withWallet(group.command('list'))
    .description("show the wallet's keys and their use")
    .action(async (options: CommonOptions) => {
      const { listKeys } = await import('../../sdk/wallet/keys.ts');
      const wallet = await readWallet(options);
      const keys = await listKeys(await open(options), wallet);
      const columns = [
        'key_id',
        'name',
        'created_at',
        'last_used_at',
        'expires_at',
        'scopes',
        'execution_count',
        'total_spent_usdc',
        'revoked',
      ] as const;
      printTable(keys, [...columns], options.json);
    });

  withWallet(group.command('revoke'))
    .description('end a key, at the marketplace and on-chain')
    .argument('<key_id>', 'as `keys list` shows it', toKeyId)
    .option('--on-chain-only', 'without the marketplace, should it not answer; needs --rpc-url')
    .action(async (keyId: string, options: CommonOptions & { onChainOnly?: boolean }) => {
      const { revokeKey, revokeOnChain } = await import('../../sdk/wallet/keys.ts');
      const { connect } = await import('../../sdk/wallet/chain.ts');
      const wallet = await readWallet(options);
      let signature: string | null;
      if (options.onChainOnly) {
        signature = await revokeOnChain({ connection: connect(requireRpcUrl(options)) }, { wallet, keyId });
      } else {
        signature = await revokeKey(await open(options), { wallet, keyId, report });
      }
      printResult({ key_id: keyId, revoked: true, signature }, options.json);
    });

  withWallet(group.command('update'))
    .description('change limits of a key on-chain; those not named stay, and so does what it has spent')
    .argument('<key_id>', 'as `keys list` shows it', toKeyId)
    .option('--per-execution <usdc>', 'most that one execution may cost', toAmount)
    .option('--per-period <usdc>', 'most that may be spent in one period', toAmount)
    .option('--period-seconds <n>', 'length of a period', toCount(U32_MAX))
    .option('--total <usdc>', 'most that may ever be spent, what is spent already included', toAmount)
    .option('--expires-in-days <n>', `life of the key from now on, at most ${MAX_DAYS}`, toCount(MAX_DAYS))
    .action(async (keyId: string, options: CommonOptions & Partial<LimitOptions>) => {
      const { updateKey } = await import('../../sdk/wallet/keys.ts');
      const wallet = await readWallet(options);
      const { perExecution, perPeriod, periodSeconds, total, expiresInDays } = options;
      const chain = await openOnChain(options);
      const change: Partial<GrantLimits> = {
        ...(perExecution && { perExecutionMax: perExecution }),
        ...(perPeriod && { periodMax: perPeriod }),
        ...(periodSeconds && { periodSeconds }),
        ...(total && { totalMax: total }),
        ...(expiresInDays && { expiresAt: await expiryAfter(chain.connection, expiresInDays) }),
      };
      if (Object.keys(change).length === 0) throw new Refusal('Name at least one limit to change; --help lists them.');
      printResult(await updateKey(chain, { wallet, keyId, change }), options.json);
    });

  withWallet(group.command('close'))
    .description("remove a key's grant from the chain for good, and get its rent back")
    .argument('<key_id>', 'as `keys list` shows it', toKeyId)
    .action(async (keyId: string, options: CommonOptions) => {
      const { closeKey } = await import('../../sdk/wallet/keys.ts');
      const wallet = await readWallet(options);
      printResult(await closeKey(await openOnChain(options), { wallet, keyId }), options.json);
    });

  withMarketplace(group.command('register'))
    .description('tell the marketplace of a key whose grant is on-chain already')
    .argument('<key_hash>', 'SHA-256 of the whole key, 64 lower-case hex digits')
    .requiredOption('--name <name>', 'by which you will know the key', toName)
    .requiredOption('--wallet <address>', 'the wallet that granted it', toAddress)
    .action(async (keyHash: string, options: CommonOptions & { name: string; wallet: Address }) => {
      const { registerKey } = await import('../../sdk/wallet/keys.ts');
      const { name, wallet } = options;
      const keyId = await registerKey(readSettings(options), { wallet, keyHash, name });
      printResult({ key_id: keyId, name }, options.json);
    });
  return group;
}

/** Counted by the chain's clock, which the program compares with. */
async function expiryAfter(connection: Connection, days: number): Promise<bigint> {
  const { readClock } = await import('../../sdk/wallet/chain.ts');
  return (await readClock(connection)) + BigInt(days * DAY_SECONDS);
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
    report('Keep the key secret: it spends money from your wallet. It is shown this once.');
    printResult(result, json);
  } catch (error) {
    if (unregistered !== null) printResult({ api_key: unregistered }, json);
    throw error;
  }
}

function requireRpcUrl(options: CommonOptions): string {
  const { rpcUrl } = readSettings(options);
  if (rpcUrl !== null) return rpcUrl;
  throw new Refusal('Without the marketplace the node must be named: --rpc-url URL or SOLANA_RPC_URL.');
}

function toName(text: string): string {
  if (/^[^\p{Cc}\p{Surrogate}]{1,64}$/u.test(text)) return text;
  throw new InvalidArgumentError('It must be 1 to 64 characters on one line.');
}

function toScopes(text: string): KeyScope[] {
  const scopes = toList(text);
  if (scopes.every((scope): scope is KeyScope => KEY_SCOPES.some((known) => known === scope))) return scopes;
  throw new InvalidArgumentError(`It must be ${KEY_SCOPES.join(', ')}, or both by a comma.`);
}

function toTime(text: string): string {
  const time = Date.parse(text);
  if (/T.*(Z|[+-]\d\d:\d\d)$/.test(text) && time > Date.now()) return new Date(time).toISOString();
  throw new InvalidArgumentError('It must be a time to come with its zone, such as 2027-01-31T12:00:00Z.');
}

/** Seconds. */
function toPeriod(text: string): number {
  const [, count, unit] = /^([0-9]{1,6})(s|m|h|d)$/.exec(text) ?? [];
  const seconds = { s: 1, m: 60, h: 3_600, d: DAY_SECONDS }[unit as 's' | 'm' | 'h' | 'd'];
  if (seconds !== undefined) return Number(count) * seconds;
  throw new InvalidArgumentError('It must be a number and a unit: 90s, 30m, 24h or 7d.');
}

function toList(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}
