/** `admin update-config`, the pauses, and the options that name settings. */
import { type Command, InvalidArgumentError } from 'commander';
import type { CollateralTier } from '../../sdk/program/program.ts';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import type { SettingsChange } from '../../sdk/wallet/settings.ts';
import type { CommonOptions } from '../config.ts';
import { printResult } from '../output.ts';
import { openOnChain, readWallet, toAmount, toAmountOrZero, toCount, U32_MAX, withWallet } from './options.ts';

const U16_MAX = 2 ** 16 - 1;
/** 1,000 SOL: far above the program's limits, and exact as a number. */
const LAMPORTS_MAX = 10 ** 12;

/** The settings that an option names, as `SettingsChange` names them. */
const SETTINGS = [
  'feeBps',
  'minPrice',
  'disputeBondLamports',
  'disputeWindowSeconds',
  'refundGraceSeconds',
  'maxTimeoutSeconds',
  'recordSeconds',
  'exposureMultiple',
  'adminDelaySeconds',
  'liftGuardianPause',
  'tiers',
] as const;

export type SettingOptions = CommonOptions & SettingsChange;

/** Adds an option for each setting. */
export function withSettings(command: Command): Command {
  return command
    .option('--fee-bps <n>', 'marketplace fee, in basis points of the price; 100 is 1%', toCount(U16_MAX, 0))
    .option('--min-price <usdc>', 'minimum price of an execution', toAmountOrZero)
    .option('--dispute-bond-lamports <n>', 'bond of a dispute, in lamports; 1000000000 is 1 SOL', (text) =>
      BigInt(toCount(LAMPORTS_MAX, 0)(text)),
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

export function toSettings(options: SettingOptions): SettingsChange {
  const given = SETTINGS.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}

export function addSettings(group: Command): void {
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

function toTiers(text: string): CollateralTier[] {
  return text.split(',').map((tier) => {
    const [maxPrice, deposit, ...rest] = tier.split(':');
    if (maxPrice === undefined || deposit === undefined || rest.length > 0) {
      throw new InvalidArgumentError('It must be price:deposit pairs separated by commas, such as 0.1:1,1:5.');
    }
    return { maxPrice: toAmount(maxPrice), deposit: toAmount(deposit) };
  });
}
