/**
 * `admin`: settings, pending changes, authorities, fees, badges and dispute outcomes. Anyone may read. Changes need the
 * keypair of the admin, some that of the guardian.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { CollateralTier } from '../../sdk/program/program.ts';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import type { SettingsChange } from '../../sdk/wallet/settings.ts';
import type { CommonOptions } from '../config.ts';
import { printResult, printTable } from '../output.ts';
import {
  type Address,
  hashFile,
  openOnChain,
  publicKeyOf,
  readWallet,
  serviceOf,
  toAddress,
  toAmount,
  toAmountOrZero,
  toCount,
  toExecutionId,
  withMarketplace,
  withWallet,
} from './options.ts';

const U16_MAX = 2 ** 16 - 1;
const U32_MAX = 2 ** 32 - 1;
/** 1,000 SOL: far above the program's limits, and exact as a number. */
const LAMPORTS_MAX = 10 ** 12;
/** The address of 32 zero bytes, which the program uses for none. */
const NOBODY: Address = '11111111111111111111111111111111';

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
        printTable(actions, ['begun_at', 'wallet', 'action', 'subject', 'outcome'], options.json);
      }
    });
}

interface SettingOptions extends CommonOptions {
  feeBps?: number;
  minPrice?: bigint;
  disputeBondLamports?: number;
  disputeWindowSeconds?: number;
  refundGraceSeconds?: number;
  maxTimeoutSeconds?: number;
  recordSeconds?: number;
  exposureMultiple?: number;
  adminDelaySeconds?: number;
  liftGuardianPause?: true;
  tiers?: CollateralTier[];
}

/** Adds an option for each setting. */
function withSettings(command: Command): Command {
  return command
    .option('--fee-bps <n>', 'marketplace fee, in basis points of the price; 100 is 1%', toCount(U16_MAX, 0))
    .option('--min-price <usdc>', 'minimum price of an execution', toAmountOrZero)
    .option(
      '--dispute-bond-lamports <n>',
      'bond of a dispute, in lamports; 1000000000 is 1 SOL',
      toCount(LAMPORTS_MAX, 0),
    )
    .option('--dispute-window-seconds <n>', 'how long a settled execution can be disputed', toCount(U32_MAX, 0))
    .option(
      '--refund-grace-seconds <n>',
      'delay after the deadline before anyone may send the refund',
      toCount(U32_MAX, 0),
    )
    .option('--max-timeout-seconds <n>', 'maximum timeout of an agent', toCount(U32_MAX, 0))
    .option(
      '--record-seconds <n>',
      'delay after a settled execution until its record can be archived',
      toCount(U32_MAX, 0),
    )
    .option(
      '--exposure-multiple <n>',
      "limit of an agent's executions in one window, as a multiple of its collateral; 0: no limit",
      toCount(U32_MAX, 0),
    )
    .option(
      '--admin-delay-seconds <n>',
      'delay before a proposed change can be applied; can only be raised',
      toCount(U32_MAX, 0),
    )
    .option('--lift-guardian-pause', "end the guardian's pause")
    .option('--tiers <list>', 'price:deposit in USDC, up to 4, such as 0.1:1,1:5,10:25', toTiers);
}

function toSettings(options: SettingOptions): SettingsChange {
  const { feeBps, minPrice, disputeBondLamports, tiers, adminDelaySeconds, liftGuardianPause, ...others } = options;
  const { disputeWindowSeconds, refundGraceSeconds, maxTimeoutSeconds, recordSeconds, exposureMultiple } = others;
  return {
    ...(feeBps !== undefined && { feeBps }),
    ...(minPrice !== undefined && { minPrice }),
    ...(disputeBondLamports !== undefined && { disputeBondLamports: BigInt(disputeBondLamports) }),
    ...(disputeWindowSeconds !== undefined && { disputeWindowSeconds }),
    ...(refundGraceSeconds !== undefined && { refundGraceSeconds }),
    ...(maxTimeoutSeconds !== undefined && { maxTimeoutSeconds }),
    ...(recordSeconds !== undefined && { recordSeconds }),
    ...(exposureMultiple !== undefined && { exposureMultiple }),
    ...(adminDelaySeconds !== undefined && { adminDelaySeconds }),
    ...(liftGuardianPause && { liftGuardianPause }),
    ...(tiers && { tiers }),
  };
}

function addSettings(group: Command): void {
  withSettings(withWallet(group.command('update-config')))
    .description(
      'change settings immediately; the others are unchanged. The program enforces the bounds, and refuses changes that must be proposed',
    )
    .action(async (options: SettingOptions) => {
      const { changeSettings } = await import('../../sdk/wallet/settings.ts');
      const settings = toSettings(options);
      const changed = Object.keys(settings).length;
      if (changed === 0) throw new Refusal('Name at least one setting to change; --help lists them.');
      const admin = await readWallet(options);
      const signature = await changeSettings(await openOnChain(options), admin, settings);
      printResult({ changed, signature }, options.json);
    });

  const pauses = [
    [
      'pause-opens',
      true,
      "refuse new executions; open ones are still settled and refunded. The guardian's pause also stops withdrawals from the treasury and forfeits on their way to it. Only the admin or the guardian",
    ],
    [
      'resume-opens',
      false,
      "lift your own pause: the admin's or the guardian's. Executions are accepted while neither is set",
    ],
  ] as const;
  for (const [name, isPaused, description] of pauses) {
    withWallet(group.command(name))
      .description(description)
      .action(async (options: CommonOptions) => {
        const { changePause } = await import('../../sdk/wallet/changes.ts');
        const wallet = await readWallet(options);
        printResult(await changePause(await openOnChain(options), wallet, isPaused), options.json);
      });
  }
}

interface ProposalOptions extends SettingOptions {
  addRelayAuthority?: Address[];
  guardian?: Address;
  nextAdmin?: Address;
}

function addChanges(group: Command): void {
  withMarketplace(group.command('changes'))
    .description(
      'show the guardian, the delay and the pending changes with the time left; anyone can read and apply them',
    )
    .action(async (options: CommonOptions) => {
      const { listChanges } = await import('../../sdk/wallet/changes.ts');
      printResult(await listChanges(await openOnChain(options)), options.json);
    });

  withSettings(withWallet(group.command('propose-change')))
    .description(
      'announce a change of settings, or of the guardian, or of the admin; it is due admin_delay_seconds later, a guardian 7 days after that',
    )
    .option('--add-relay-authority <address>', 'a key that relays will sign with; may be repeated', collectAddresses)
    .option(
      '--guardian <address>',
      'new guardian, which can pause the marketplace, remove relay authorities and cancel changes, or `none`',
      toAddressOrNone,
    )
    .option('--next-admin <address>', 'next admin, who must run `accept` when the change is due', toAddress)
    .action(async (options: ProposalOptions) => {
      const { announceChange } = await import('../../sdk/wallet/changes.ts');
      const settings = toSettings(options);
      const { addRelayAuthority, guardian, nextAdmin } = options;
      const proposal = {
        ...(Object.keys(settings).length > 0 && { settings }),
        ...(addRelayAuthority && { addedRelayAuthorities: await Promise.all(addRelayAuthority.map(publicKeyOf)) }),
        ...(guardian && { guardian: await publicKeyOf(guardian) }),
        ...(nextAdmin && { nextAdmin: await publicKeyOf(nextAdmin) }),
      };
      if (Object.keys(proposal).length === 0) throw new Refusal('Name at least one change; --help lists them.');
      const admin = await readWallet(options);
      printResult(await announceChange(await openOnChain(options), admin, proposal), options.json);
    });

  withWallet(group.command('apply-change'))
    .description('apply a change that is due, within 7 days; any wallet can do this')
    .argument('<change_id>', 'as `changes` shows it', toChangeId)
    .action(async (changeId: bigint, options: CommonOptions) => {
      const { applyPending } = await import('../../sdk/wallet/changes.ts');
      const signature = await applyPending(await openOnChain(options), await readWallet(options), changeId);
      printResult({ change_id: changeId.toString(), applied: true, signature }, options.json);
    });

  withWallet(group.command('cancel-change'))
    .description(
      'cancel pending changes, at most 8 at once: of settings as admin or guardian, of the admin as guardian, of the guardian as admin. Any wallet can close those that are expired or cancelled',
    )
    .argument('<change_id...>', 'as `changes` shows them', collectChangeIds)
    .action(async (changeIds: bigint[], options: CommonOptions) => {
      const { cancelPending } = await import('../../sdk/wallet/changes.ts');
      const signature = await cancelPending(await openOnChain(options), await readWallet(options), ...changeIds);
      printResult({ change_ids: changeIds.map(String), cancelled: true, signature }, options.json);
    });

  withWallet(group.command('cancel-all-changes'))
    .description(
      'cancel all pending changes of settings at once; those of admin and guardian stay. Only the admin or the guardian',
    )
    .action(async (options: CommonOptions) => {
      const { cancelAllPending } = await import('../../sdk/wallet/changes.ts');
      const signature = await cancelAllPending(await openOnChain(options), await readWallet(options));
      printResult({ cancelled: true, signature }, options.json);
    });

  withWallet(group.command('remove-relay-authority'))
    .description(
      'remove a relay authority immediately, even the last one, and cancel all pending changes of settings. Only the admin or the guardian',
    )
    .argument('<address>', 'the relay authority', toAddress)
    .action(async (address: Address, options: CommonOptions) => {
      const { dropRelayAuthority } = await import('../../sdk/wallet/changes.ts');
      const wallet = await readWallet(options);
      const signature = await dropRelayAuthority(await openOnChain(options), wallet, await publicKeyOf(address));
      printResult({ removed: address, signature }, options.json);
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
}

function addMoney(group: Command): void {
  withWallet(group.command('withdraw-treasury'))
    .description('withdraw collected fees')
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
    .requiredOption('--reason-file <file>', 'the written reason; its SHA-256 goes on-chain')
    .action(async (executionId: Uint8Array, options: VerdictOptions) => {
      const { answerDispute } = await import('../../sdk/wallet/disputes.ts');
      const { reject, uphold, reasonFile } = options;
      if (!reject && uphold === undefined) throw new Refusal('Give --reject, or --uphold USDC.');
      const verdict = uphold === undefined ? { upheld: false as const } : { upheld: true as const, amount: uphold };
      const wallet = await readWallet(options);
      const answer = { wallet, executionId, verdict, reasonHash: hashFile(reasonFile) };
      printResult(await answerDispute(await openOnChain(options), answer), options.json);
    });
}

function toAddressOrNone(text: string): Address {
  return text === 'none' ? NOBODY : toAddress(text);
}

function toChangeId(text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return BigInt(text);
}

function toTiers(text: string): CollateralTier[] {
  return text.split(',').map((tier) => {
    const [maxPrice, deposit, ...rest] = tier.split(':');
    if (maxPrice === undefined || deposit === undefined || rest.length > 0) {
      throw new InvalidArgumentError('It must be price:deposit pairs separated by commas, such as 0.1:1,1:5.');
    }
    return { maxPrice: toAmount(maxPrice), deposit: toAmount(deposit) };
  });
}

/** Commander passes each value separately, with the values before it. */
function collectChangeIds(text: string, before: bigint[] = []): bigint[] {
  return [...before, toChangeId(text)];
}

function collectAddresses(text: string, before: Address[] = []): Address[] {
  return [...before, toAddress(text)];
}
