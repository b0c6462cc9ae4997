/** `dispute`: disputes over settled results. The admin decides them with `admin resolve-dispute`. */
import { Command, InvalidArgumentError } from 'commander';
import { constants } from '../../sdk/program/constants.ts';
import type { CommonOptions } from '../config.ts';
import { printResult, report } from '../output.ts';
import {
  type Address,
  hashFile,
  openOnChain,
  PROOF_HELP,
  publicKeyOf,
  readWallet,
  serviceOf,
  toAddress,
  toExecutionId,
  withMarketplace,
  withWallet,
} from './options.ts';

interface DisputeOptions extends CommonOptions {
  evidence: string;
  evidenceUri: string;
}

export function disputeCommands(): Command {
  const group = new Command('dispute').description('dispute a result, follow the dispute, collect the award');

  withWallet(group.command('open'))
    .description('dispute a settled execution as its caller, within its dispute window; locks a bond')
    .argument('<execution_id>', 'the execution', toExecutionId)
    .requiredOption('--evidence <file>', 'your evidence; its SHA-256 goes on-chain')
    .option('--evidence-uri <uri>', `public URL of that file, at most ${constants.maxUriLength} bytes`, toUri, '')
    .addHelpText('after', `An archived execution is disputed by its leaf. ${PROOF_HELP}`)
    .action(async (executionId: Uint8Array, options: DisputeOptions) => {
      const { disputeExecution } = await import('../../sdk/wallet/disputes.ts');
      const { archiveFrom } = await import('../../sdk/wallet/archive.ts');
      const wallet = await readWallet(options);
      const { evidence, evidenceUri } = options;
      const findArchive = archiveFrom(serviceOf(options));
      const evidenceHash = hashFile(evidence);
      const claimed = { wallet, executionId, evidenceHash, evidenceUri, findArchive, onProgress: report };
      printResult(await disputeExecution(await openOnChain(options), claimed), options.json);
    });

  withMarketplace(group.command('show'))
    .description('show a dispute: outcome, dates, amounts')
    .argument('<execution_id>', 'the disputed execution', toExecutionId)
    .action(async (executionId: Uint8Array, options: CommonOptions) => {
      const { showDispute } = await import('../../sdk/wallet/disputes.ts');
      printResult(await showDispute(await openOnChain(options), executionId), options.json);
    });

  withWallet(group.command('claim'))
    .description("pay an award that the caller's account could not receive earlier; anyone can do this")
    .argument('<execution_id>', 'the disputed execution', toExecutionId)
    .option('--destination <address>', 'another USDC account of the caller; the caller must then sign', toAddress)
    .action(async (executionId: Uint8Array, options: CommonOptions & { destination?: Address }) => {
      const { claimAward } = await import('../../sdk/wallet/disputes.ts');
      const wallet = await readWallet(options);
      const { destination } = options;
      const award = { wallet, executionId, ...(destination && { destination: await publicKeyOf(destination) }) };
      printResult(await claimAward(await openOnChain(options), award), options.json);
    });

  withWallet(group.command('lapse'))
    .description('end a dispute that was not decided within 30 days; anyone can do this')
    .argument('<execution_id>', 'the disputed execution', toExecutionId)
    .action(async (executionId: Uint8Array, options: CommonOptions) => {
      const { endUndecidedDispute } = await import('../../sdk/wallet/disputes.ts');
      const wallet = await readWallet(options);
      printResult(await endUndecidedDispute(await openOnChain(options), { wallet, executionId }), options.json);
    });

  withWallet(group.command('close'))
    .description(
      'remove a dispute 30 days after its outcome; its refundable deposit is returned to the wallet that paid it; anyone can do this',
    )
    .argument('<execution_id>', 'the disputed execution', toExecutionId)
    .action(async (executionId: Uint8Array, options: CommonOptions) => {
      const { removeDispute } = await import('../../sdk/wallet/disputes.ts');
      const wallet = await readWallet(options);
      printResult(await removeDispute(await openOnChain(options), { wallet, executionId }), options.json);
    });
  return group;
}

function toUri(text: string): string {
  if (Buffer.byteLength(text) <= constants.maxUriLength) return text;
  throw new InvalidArgumentError(`It must be at most ${constants.maxUriLength} bytes.`);
}
