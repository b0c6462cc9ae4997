/** `admin changes` and what announces, applies and cancels them. */
import { type Command, InvalidArgumentError } from 'commander';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import type { CommonOptions } from '../config.ts';
import { printResult } from '../output.ts';
import { type SettingOptions, toSettings, withSettings } from './adminSettings.ts';
import {
  type Address,
  openOnChain,
  publicKeyOf,
  readWallet,
  toAddress,
  withMarketplace,
  withWallet,
} from './options.ts';

/** The address of 32 zero bytes, which the program uses for none. */
const NOBODY: Address = '11111111111111111111111111111111';

interface ProposalOptions extends SettingOptions {
  addRelayAuthority?: Address[];
  guardian?: Address;
  nextAdmin?: Address;
}

export function addChanges(group: Command): void {
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

function toAddressOrNone(text: string): Address {
  return text === 'none' ? NOBODY : toAddress(text);
}

function toChangeId(text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return BigInt(text);
}

/** Commander passes each value separately, with the values before it. */
function collectChangeIds(text: string, before: bigint[] = []): bigint[] {
  return [...before, toChangeId(text)];
}

function collectAddresses(text: string, before: Address[] = []): Address[] {
  return [...before, toAddress(text)];
}
