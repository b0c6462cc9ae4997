/** `refund`: refunds that their callers' accounts could not receive, and that their callers claim. */

import type { PublicKey } from '@solana/web3.js';
import { Command, InvalidArgumentError } from 'commander';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import type { CommonOptions } from '../config.ts';
import { printResult, report } from '../output.ts';
import {
  type Address,
  isAddress,
  openOnChain,
  PROOF_HELP,
  publicKeyOf,
  readWallet,
  serviceOf,
  toAddress,
  withMarketplace,
  withWallet,
} from './options.ts';

/** An execution, or a deposit by its address. */
type Source = { executionId: Uint8Array } | { deposit: Address };

const SOURCE = ['<source>', 'the id of an execution, or the address of a deposit', toSource] as const;

export function refundCommands(): Command {
  const group = new Command('refund').description(
    'unclaimed refunds, which the account of their caller could not receive: show, claim, move',
  );

  withMarketplace(group.command('show'))
    .description('show the unclaimed refunds of an execution or a deposit, verified on a Solana node')
    .argument(...SOURCE)
    .addHelpText('after', PROOF_HELP)
    .action(async (source: Source, options: CommonOptions) => {
      const { showUnclaimed, unclaimedFrom } = await import('../../sdk/wallet/unclaimed.ts');
      const findUnclaimed = unclaimedFrom(serviceOf(options));
      printResult(
        await showUnclaimed(await openOnChain(options), await addressOf(source), findUnclaimed, report),
        options.json,
      );
    });

  withWallet(group.command('claim'))
    .description(
      "claim the refund of an execution or a deposit, as its caller; the wallet's USDC account is created if needed",
    )
    .argument(...SOURCE)
    .addHelpText('after', PROOF_HELP)
    .option('--destination <address>', "another USDC account of the wallet (default: the wallet's own)", toAddress)
    .action(async (source: Source, options: CommonOptions & { destination?: Address }) => {
      const { claimUnclaimed, unclaimedFrom } = await import('../../sdk/wallet/unclaimed.ts');
      const wallet = await readWallet(options);
      const { destination } = options;
      const claim = {
        wallet,
        source: await addressOf(source),
        findUnclaimed: unclaimedFrom(serviceOf(options)),
        onProgress: report,
        ...(destination && { destination: await publicKeyOf(destination) }),
      };
      printResult(await claimUnclaimed(await openOnChain(options), claim), options.json);
    });

  withWallet(group.command('move'))
    .description(
      "move a refund that the caller's account cannot receive to the unclaimed ones, an hour after anyone could make it; anyone can do this",
    )
    .argument(...SOURCE)
    .action(async (source: Source, options: CommonOptions) => {
      const { moveDepositRefund, moveRefund } = await import('../../sdk/wallet/unclaimed.ts');
      const wallet = await readWallet(options);
      const chain = await openOnChain(options);
      const moved =
        'deposit' in source
          ? await moveDepositRefund(chain, { wallet, deposit: await publicKeyOf(source.deposit) })
          : await moveRefund(chain, { wallet, ...source });
      printResult(moved, options.json);
    });
  return group;
}

async function addressOf(source: Source): Promise<PublicKey> {
  if ('deposit' in source) return publicKeyOf(source.deposit);
  const { findExecution } = await import('../../sdk/program/program.ts');
  return findExecution(source.executionId);
}

function toSource(text: string): Source {
  const executionId = parseUuid(text);
  if (executionId) return { executionId };
  if (isAddress(text)) return { deposit: text };
  throw new InvalidArgumentError('It must be the id of an execution, or the base58 address of a deposit.');
}
