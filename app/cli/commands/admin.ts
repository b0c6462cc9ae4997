/**
 * `admin`: settings, pending changes, authorities, fees, badges and dispute outcomes. Anyone may read. Changes need the
 * keypair of the admin, some that of the guardian.
 */
import { Command, Option } from 'commander';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import type { CommonOptions } from '../config.ts';
import { printResult, printTable } from '../output.ts';
import { addChanges } from './adminChanges.ts';
import { addSettings } from './adminSettings.ts';
import {
  type Address,
  openOnChain,
  publicKeyOf,
  readBytes,
  readText,
  readWallet,
  serviceOf,
  sha256,
  toAddress,
  toAmount,
  toAmountOrZero,
  toCount,
  toExecutionId,
  U32_MAX,
  withMarketplace,
  withWallet,
} from './options.ts';

export function adminCommands(): Command {
  const group = new Command('admin').description('administer the marketplace');

  withMarketplace(group.command('config'))
    .description('show every setting, the authorities and the balance of the treasury')
    .action(async (options: CommonOptions) => {
      const { showConfig } = await import('../../sdk/wallet/settings.ts');
      printResult(await showConfig(await openOnChain(options)), options.json);
    });
  addSettings(group);
  addChanges(group);
  addAuthorities(group);
  addMoney(group);
  addLog(group);
  return group;
}

interface LogOptions extends CommonOptions {
  onChain?: boolean;
  limit: number;
  offset: number;
}

function addLog(group: Command): void {
  withWallet(group.command('log'))
    .description("list what the admin did through this marketplace's service, newest first")
    .option('--on-chain', 'list the transactions of admin and guardian instead')
    .option('--limit <n>', 'maximum number of entries', toCount(100), 20)
    .option('--offset <n>', 'number of entries to skip', toCount(U32_MAX, 0), 0)
    .action(async ({ limit, offset, ...options }: LogOptions) => {
      const { listAdminActions, listAdminEvents } = await import('../../sdk/wallet/settings.ts');
      const admin = await readWallet(options);
      const [service, page] = [serviceOf(options), { limit, offset }];
      if (options.onChain) {
        const { events } = await listAdminEvents(service, admin, page);
        printTable(events, ['at', 'event', 'signature', 'data'], options.json);
      } else {
        const { actions } = await listAdminActions(service, admin, page);
        printTable(actions, ['begun_at', 'ended_at', 'wallet', 'action', 'subject', 'outcome'], options.json);
      }
    });
}

function addAuthorities(group: Command): void {
  withWallet(group.command('accept'))
    .description('become admin by a pending change that proposes this wallet and is due, within 7 days')
    .action(async (options: CommonOptions) => {
      const { becomeAdmin } = await import('../../sdk/wallet/changes.ts');
      const wallet = await readWallet(options);
      const signature = await becomeAdmin(await openOnChain(options), wallet);
      printResult({ admin: wallet.publicKey.toBase58(), signature }, options.json);
    });

  withWallet(group.command('verify-creator'))
    .description("mark a creator's wallet as verified, after its identity was checked")
    .argument('<address>', "the creator's wallet", toAddress)
    .option('--revoke', 'remove the mark')
    .action(async (address: Address, options: CommonOptions & { revoke?: boolean }) => {
      const { verifyCreator } = await import('../../sdk/wallet/settings.ts');
      const admin = await readWallet(options);
      const verified = !options.revoke;
      const creator = await publicKeyOf(address);
      const signature = await verifyCreator(await openOnChain(options), admin, { creator, verified });
      printResult({ creator: address, verified, signature }, options.json);
    });
}

interface VerdictOptions extends CommonOptions {
  reject?: boolean;
  uphold?: bigint;
  reasonFile: string;
  hashOnly?: boolean;
}

function addMoney(group: Command): void {
  withWallet(group.command('withdraw-treasury'))
    .description('withdraw from the treasury')
    .argument('<usdc>', 'amount', toAmount)
    .option('--destination <address>', "USDC account to receive them (default: the admin's own)", toAddress)
    .action(async (amount: bigint, options: CommonOptions & { destination?: Address }) => {
      const { withdrawFees } = await import('../../sdk/wallet/settings.ts');
      const admin = await readWallet(options);
      const { destination } = options;
      const order = { amount, ...(destination && { destination: await publicKeyOf(destination) }) };
      printResult(await withdrawFees(await openOnChain(options), admin, order), options.json);
    });

  withWallet(group.command('resolve-dispute'))
    .description('decide a dispute: for the creator, or for the caller with an amount of the collateral')
    .argument('<execution_id>', 'the disputed execution', toExecutionId)
    .addOption(new Option('--reject', 'decide for the creator, who gets the bond').conflicts('uphold'))
    .option(
      '--uphold <usdc>',
      'decide for the caller and take this much collateral: up to the price goes to the caller, the rest is forfeited',
      toAmountOrZero,
    )
    .requiredOption(
      '--reason-file <file>',
      'the written reason: both parties can read it, and its SHA-256 goes on-chain',
    )
    .option('--hash-only', 'only send the SHA-256 of the reason, without the service: nobody can read the reason there')
    .action(async (executionId: Uint8Array, options: VerdictOptions) => {
      const { decideDispute, publishReason } = await import('../../sdk/wallet/disputes.ts');
      const { reject, uphold, reasonFile, hashOnly } = options;
      if (!reject && uphold === undefined) throw new Refusal('Give --reject, or --uphold USDC.');
      const verdict = uphold === undefined ? { upheld: false as const } : { upheld: true as const, amount: uphold };
      const wallet = await readWallet(options);
      const reasonHash = hashOnly
        ? sha256(readBytes(reasonFile))
        : await publishReason(serviceOf(options), { wallet, executionId, reason: readText(reasonFile) });
      const answer = { wallet, executionId, verdict, reasonHash };
      printResult(await decideDispute(await openOnChain(options), answer), options.json);
    });
}
