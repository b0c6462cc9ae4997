/** `keys`: a caller's API keys, and the files of wallets and signing keys. */
import { Command } from 'commander';
import type { GrantLimits } from '../../sdk/program/program.ts';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import { type CommonOptions, fromCaller, readSettings } from '../config.ts';
import { printResult, printTable, report } from '../output.ts';
import {
  expiryAfter,
  type LimitOptions,
  MAX_DAYS,
  type RestrictionOptions,
  readRestrictions,
  toGas,
  toKeyId,
  toName,
  withRestrictions,
} from './keyOptions.ts';
import { addCreate, addRotate } from './newKeys.ts';
import {
  type Address,
  open,
  openOnChain,
  readWallet,
  serviceOf,
  toAddress,
  toAmount,
  toCount,
  U32_MAX,
  withMarketplace,
  withWallet,
} from './options.ts';

const SHOWN_BY = 'as `keys list` shows it';
const COLUMNS = [
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

export function keysCommands(): Command {
  const group = new Command('keys').description(
    'create, list and revoke API keys; create key files of wallets and signing keys',
  );
  addNew(group);
  addCreate(group);
  addRotate(group);
  addRestrict(group);
  addList(group);
  addRevoke(group);
  addUpdate(group);
  addAllowance(group);
  addClose(group);
  addRegister(group);
  return group;
}

function addNew(group: Command): void {
  group
    .command('new')
    .description('create a key file, for a new wallet or for a key that signs results')
    .argument('<file>', 'path of the new file; an existing file is never overwritten')
    .option('--json', 'print the result as JSON')
    .action(async (path: string, { json }: CommonOptions) => {
      const { createKeyFile } = await import('../wallet.ts');
      const made = createKeyFile(fromCaller(path));
      report('Keep a copy of the file: nobody can restore this key.');
      printResult(made, json);
    });
}

function addRestrict(group: Command): void {
  withRestrictions(withWallet(group.command('restrict')))
    .description('change the restrictions of a key at the marketplace, from its next request on')
    .argument('<key_id>', SHOWN_BY, toKeyId)
    .option('--any-ip', 'accept the key from every IP address again')
    .option('--any-agent', 'let the key call every agent again')
    .option('--no-expiry', 'accept the key until its grant on-chain ends')
    .action(
      async (
        keyId: string,
        options: CommonOptions & RestrictionOptions & { anyIp?: boolean; anyAgent?: boolean; expiry: boolean },
      ) => {
        const { restrictKey } = await import('../../sdk/wallet/apiKeys.ts');
        const restrictions = {
          ...readRestrictions(options),
          ...(options.anyIp && { allowed_ips: null }),
          ...(options.anyAgent && { allowed_agents: null }),
          ...(!options.expiry && { expires_at: null }),
        };
        if (Object.keys(restrictions).length === 0) throw new Refusal('Name what to change; --help lists it.');
        const wallet = await readWallet(options);
        printResult(await restrictKey(await open(options), { wallet, keyId, restrictions }), options.json);
      },
    );
}

function addList(group: Command): void {
  withWallet(group.command('list'))
    .description("show the wallet's keys and their use")
    .action(async (options: CommonOptions) => {
      const { listKeys } = await import('../../sdk/wallet/apiKeys.ts');
      const wallet = await readWallet(options);
      printTable(await listKeys(await open(options), wallet), [...COLUMNS], options.json);
    });
}

function addRevoke(group: Command): void {
  withWallet(group.command('revoke'))
    .description('revoke a key at the marketplace and on-chain')
    .argument('<key_id>', SHOWN_BY, toKeyId)
    .option('--on-chain-only', 'revoke only on-chain, for when the marketplace does not answer; needs --rpc-url')
    .action(async (keyId: string, options: CommonOptions & { onChainOnly?: boolean }) => {
      const { revokeKey } = await import('../../sdk/wallet/apiKeys.ts');
      const { connect } = await import('../../sdk/wallet/connection.ts');
      const { revokeOnChain } = await import('../../sdk/wallet/grants.ts');
      const wallet = await readWallet(options);
      const signature = options.onChainOnly
        ? await revokeOnChain({ connection: connect(requireRpcUrl(options)) }, { wallet, keyId })
        : await revokeKey(await open(options), { wallet, keyId, onProgress: report });
      printResult({ key_id: keyId, revoked: true, signature }, options.json);
    });
}

function addUpdate(group: Command): void {
  withWallet(group.command('update'))
    .description('change limits of a key on-chain; the others are unchanged, and the amount already spent still counts')
    .argument('<key_id>', SHOWN_BY, toKeyId)
    .option('--per-execution <usdc>', 'maximum price of one execution', toAmount)
    .option('--per-period <usdc>', 'limit for one period', toAmount)
    .option('--period-seconds <n>', 'length of a period', toCount(U32_MAX))
    .option('--total <usdc>', 'limit in total, including the amount already spent', toAmount)
    .option(
      '--expires-in-days <n>',
      `days until the key expires, counted from now, at most ${MAX_DAYS}`,
      toCount(MAX_DAYS),
    )
    .option('--max-gas <lamports>', "maximum that one execution may take from the wallet's gas balance", toGas)
    .action(async (keyId: string, options: CommonOptions & Partial<LimitOptions>) => {
      const { updateKey } = await import('../../sdk/wallet/grants.ts');
      const wallet = await readWallet(options);
      const { perExecution, perPeriod, periodSeconds, total, expiresInDays, maxGas } = options;
      const chain = await openOnChain(options);
      const change: Partial<GrantLimits> = {
        ...(perExecution && { perExecutionMax: perExecution }),
        ...(perPeriod && { periodMax: perPeriod }),
        ...(periodSeconds && { periodSeconds }),
        ...(total && { totalMax: total }),
        ...(maxGas !== undefined && { maxGasLamports: maxGas }),
        ...(expiresInDays && { expiresAt: await expiryAfter(chain.connection, expiresInDays) }),
      };
      if (Object.keys(change).length === 0) throw new Refusal('Name at least one limit to change; --help lists them.');
      printResult(await updateKey(chain, { wallet, keyId, change }), options.json);
    });
}

function addAllowance(group: Command): void {
  withWallet(group.command('allowance'))
    .description(
      'renew the allowance: what all keys of the wallet may still spend together. Each call takes its price from it, and a refund does not give it back',
    )
    .argument('<usdc>', 'the new allowance; any other delegate of the USDC account loses its own', toAmount)
    .action(async (allowance: bigint, options: CommonOptions) => {
      const { changeAllowance } = await import('../../sdk/wallet/grants.ts');
      const wallet = await readWallet(options);
      printResult(await changeAllowance(await openOnChain(options), { wallet, allowance }), options.json);
    });
}

function addClose(group: Command): void {
  withWallet(group.command('close'))
    .description("remove a key's grant from the chain permanently; its refundable deposit is returned")
    .argument('<key_id>', SHOWN_BY, toKeyId)
    .action(async (keyId: string, options: CommonOptions) => {
      const { closeKey } = await import('../../sdk/wallet/grants.ts');
      const wallet = await readWallet(options);
      printResult(await closeKey(await openOnChain(options), { wallet, keyId }), options.json);
    });
}

function addRegister(group: Command): void {
  withMarketplace(group.command('register'))
    .description('register a key at the marketplace; its grant must already be on-chain')
    .argument('<key_hash>', 'SHA-256 of the whole key, 64 lower-case hex digits')
    .requiredOption('--name <name>', 'a name for the key', toName)
    .requiredOption('--wallet <address>', 'the wallet that granted it', toAddress)
    .action(async (keyHash: string, options: CommonOptions & { name: string; wallet: Address }) => {
      const { registerKey } = await import('../../sdk/wallet/apiKeys.ts');
      const { name, wallet } = options;
      const keyId = await registerKey(serviceOf(options), { wallet, keyHash, name });
      printResult({ key_id: keyId, name }, options.json);
    });
}

function requireRpcUrl(options: CommonOptions): string {
  const { rpcUrl } = readSettings(options);
  if (rpcUrl !== null) return rpcUrl;
  throw new Refusal('Without the marketplace you must name a node: --rpc-url URL or SOLANA_RPC_URL.');
}
