/** `gas`: the gas balance, which pays the network fees of a wallet's executions. */
import { Command } from 'commander';
import type { CommonOptions } from '../config.ts';
import { printResult } from '../output.ts';
import { type Address, openOnChain, publicKeyOf, readWallet, toAddress, toSol, withWallet } from './options.ts';

type OfOptions = CommonOptions & { of?: Address };

export function gasCommands(): Command {
  const group = new Command('gas').description(
    "the gas balance, which pays the network fees of calls with a wallet's keys",
  );

  withWallet(group.command('show'))
    .description('show the gas balance')
    .option('--of <address>', 'the gas balance of another wallet', toAddress)
    .action(async (options: OfOptions) => {
      const { showGas } = await import('../../sdk/wallet/gas.ts');
      const wallet = options.of ? await publicKeyOf(options.of) : (await readWallet(options)).publicKey;
      printResult(await showGas(await openOnChain(options), wallet), options.json);
    });

  withWallet(group.command('add'))
    .description('add SOL to the gas balance; 0.01 SOL pays for about 650 calls')
    .argument('<sol>', 'amount', toSol)
    .option('--of <address>', 'the gas balance of another wallet', toAddress)
    .action(async (lamports: bigint, options: OfOptions) => {
      const { addGas } = await import('../../sdk/wallet/gas.ts');
      const wallet = await readWallet(options);
      const deposit = { wallet, lamports, ...(options.of && { of: await publicKeyOf(options.of) }) };
      printResult(await addGas(await openOnChain(options), deposit), options.json);
    });

  withWallet(group.command('take'))
    .description("withdraw SOL from the wallet's own gas balance")
    .argument('[sol]', 'amount (default: all)', toSol)
    .action(async (lamports: bigint | undefined, options: CommonOptions) => {
      const { takeGas } = await import('../../sdk/wallet/gas.ts');
      const wallet = await readWallet(options);
      printResult(await takeGas(await openOnChain(options), { wallet, lamports: lamports ?? null }), options.json);
    });
  return group;
}
