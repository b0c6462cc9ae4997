/** `local`: money and time on the local network of `npm start`, to try things out. */
import { Command, InvalidArgumentError } from 'commander';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import type { CommonOptions } from '../config.ts';
import { printResult } from '../output.ts';
import { type Address, publicKeyOf, toAddress, toAmount } from './options.ts';

const LAMPORTS_PER_SOL = 1_000_000_000;
/** Far above any price here, and exact as a number of lamports. */
const MAX_SOL = 1_000_000;
/** A year: every time window of the marketplace is shorter. */
const MAX_HOURS = 8_760;

const HELP = `
Works only on a local network with demo.json in DATA_DIR (default: .local) and a node with cheat codes.`;

interface FundOptions extends CommonOptions {
  /** Lamports. */
  sol?: number;
  /** Base units. */
  usdc?: bigint;
}

export function localCommands(): Command {
  const group = new Command('local').description('on the local network only: fund wallets, move the clock');

  group
    .command('fund')
    .description('add SOL and mock USDC to a wallet')
    .argument('<wallet>', 'its address', toAddress)
    .option('--sol <n>', `amount of SOL, such as 1 or 0.5, at most ${MAX_SOL}`, toLamports)
    .option('--usdc <n>', 'amount of mock USDC, such as 100', toAmount)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(async (wallet: Address, { sol, usdc, json }: FundOptions) => {
      if (sol === undefined && usdc === undefined) throw new Refusal('Give an amount: --sol N, --usdc N, or both.');
      const { fund } = await import('../localChain.ts');
      printResult(await fund(await publicKeyOf(wallet), { lamports: sol ?? 0, usdc: usdc ?? 0n }), json);
    });

  group
    .command('travel')
    .description("move the chain's clock forward, past deadlines and windows; it cannot move back")
    .argument('<hours>', `number of hours, such as 73 or 0.5, at most ${MAX_HOURS}`, toHours)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(async (hours: number, { json }: CommonOptions) => {
      const { travel } = await import('../localChain.ts');
      printResult(await travel(hours), json);
    });
  return group;
}

function toLamports(text: string): number {
  const lamports = Math.round(Number(text) * LAMPORTS_PER_SOL);
  if (/^\d+(\.\d{1,9})?$/.test(text) && lamports > 0 && Number(text) <= MAX_SOL) return lamports;
  throw new InvalidArgumentError(`It must be above zero and at most ${MAX_SOL}, with at most 9 decimal places.`);
}

function toHours(text: string): number {
  const hours = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && hours > 0 && hours <= MAX_HOURS) return hours;
  throw new InvalidArgumentError(`It must be above zero and at most ${MAX_HOURS}.`);
}
