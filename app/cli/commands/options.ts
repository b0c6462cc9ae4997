/** The options that several commands share, and what their texts become. */

import { PublicKey } from '@solana/web3.js';
import { type Command, InvalidArgumentError } from 'commander';
import { parseUsdc } from '../../sdk/usdc.ts';
import { type CommonOptions, ENVIRONMENT_HELP, readSettings } from '../config.ts';
import { type Marketplace, openMarketplace } from '../marketplace.ts';

/** A command that talks to a marketplace. */
export function withMarketplace(command: Command): Command {
  return command
    .option('--base-url <url>', 'the marketplace (default: $MARKETPLACE_URL, or the one of `npm start`)')
    .option('--rpc-url <url>', 'a Solana node (default: $SOLANA_RPC_URL, or the one that the marketplace names)')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', ENVIRONMENT_HELP);
}

/** A command that a wallet signs. */
export function withWallet(command: Command): Command {
  return withMarketplace(command).option(
    '--keypair <path>',
    "the wallet's keypair file (default: $SOLANA_KEYPAIR, or ~/.config/solana/id.json)",
  );
}

export function open(options: CommonOptions): Promise<Marketplace> {
  return openMarketplace(readSettings(options));
}

export function toAddress(text: string): PublicKey {
  try {
    return new PublicKey(text);
  } catch {
    throw new InvalidArgumentError('It must be a base58 address.');
  }
}

/** Base units; zero is refused where nothing sensible has it. */
export function toAmount(text: string): bigint {
  try {
    const amount = parseUsdc(text);
    if (amount > 0n) return amount;
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
  throw new InvalidArgumentError('It must be above zero.');
}

/** A whole number from 1 to `maximum`. */
export function toCount(maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${maximum}.`);
  };
}

export function toKeyId(text: string): string {
  if (/^[0-9a-f]{32}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be 32 lower-case hex digits, as `keys list` shows them.');
}
