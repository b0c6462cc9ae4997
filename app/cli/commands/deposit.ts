/** `deposit`: payments of x402 clients that wait to become executions. */
import { Command } from 'commander';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import type { CommonOptions } from '../config.ts';
import { printResult } from '../output.ts';
import {
  type Address,
  openOnChain,
  publicKeyOf,
  readWallet,
  toAddress,
  toObject,
  withMarketplace,
  withWallet,
} from './options.ts';

type ShowOptions = CommonOptions & { terms?: object };

export function depositCommands(): Command {
  const group = new Command('deposit').description('show and refund x402 payments that have not become executions');

  withMarketplace(group.command('show'))
    .description('show a deposit as it is on the chain: terms, amounts, dates')
    .argument('[deposit]', 'its address: `payTo` of the quote', toAddress)
    .option('--terms <json>', '`extra` of the quote, instead of the address', toObject)
    .action(async (deposit: Address | undefined, options: ShowOptions) => {
      const { depositOfQuote, showDeposit } = await import('../../sdk/wallet/deposits.ts');
      const { terms } = options;
      if ((deposit === undefined) === (terms === undefined)) {
        throw new Refusal('The deposit is missing. Give its address, or only --terms JSON.');
      }
      const chain = await openOnChain(options);
      const address = terms ? depositOfQuote(chain, terms) : await publicKeyOf(deposit!);
      printResult(await showDeposit(chain, address), options.json);
    });

  withWallet(group.command('refund'))
    .description(
      'return a deposit to its caller: anyone can do this once it has expired, or a day after it was prepared if it is not paid',
    )
    .argument('<deposit>', 'its address: `payTo` of the quote', toAddress)
    .option('--destination <address>', 'another USDC account of the caller; the caller must then sign', toAddress)
    .action(async (deposit: Address, options: CommonOptions & { destination?: Address }) => {
      const { refundDepositToCaller } = await import('../../sdk/wallet/deposits.ts');
      const wallet = await readWallet(options);
      const { destination } = options;
      const refunded = {
        wallet,
        deposit: await publicKeyOf(deposit),
        ...(destination && { destination: await publicKeyOf(destination) }),
      };
      printResult(await refundDepositToCaller(await openOnChain(options), refunded), options.json);
    });
  return group;
}
