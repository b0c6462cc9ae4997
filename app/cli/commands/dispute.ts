/** `dispute`: disputes over settled results. The admin decides them with `admin resolve-dispute`. */
import { extname } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { constants } from '../../sdk/program/constants.ts';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import type { Signer } from '../../sdk/wallet/signer.ts';
import { MAX_EVIDENCE_BYTES } from '../../sdk/wire/choices.ts';
import type { EvidenceType } from '../../sdk/wire/disputeProcedures.ts';
import { own } from '../../sdk/wire/own.ts';
import type { CommonOptions } from '../config.ts';
import { printResult, report } from '../output.ts';
import {
  type Address,
  openOnChain,
  PROOF_HELP,
  publicKeyOf,
  readBytes,
  readWallet,
  serviceOf,
  sha256,
  toAddress,
  toExecutionId,
  withMarketplace,
  withWallet,
} from './options.ts';

interface DisputeOptions extends CommonOptions {
  evidence: string;
  evidenceUri: string;
  hashOnly?: boolean;
}

/** By the ending of the file's name. Others are sent as bytes. */
const MEDIA_TYPES: Record<string, EvidenceType> = {
  '.txt': 'text/plain',
  '.md': 'text/plain',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.json': 'application/json',
};

export function disputeCommands(): Command {
  const group = new Command('dispute').description('dispute a result, follow the dispute, collect the award');

  withWallet(group.command('open'))
    .description('dispute a settled execution as its caller, within its dispute window; locks a bond')
    .argument('<execution_id>', 'the execution', toExecutionId)
    .requiredOption(
      '--evidence <file>',
      'your evidence: creator and admin can read it at the marketplace, and its SHA-256 goes on-chain',
    )
    .option('--hash-only', 'only send the SHA-256 of the evidence: nobody can read it at the marketplace')
    .option('--evidence-uri <uri>', `public URL of that file, at most ${constants.maxUriLength} bytes`, toUri, '')
    .addHelpText('after', `An archived execution is disputed by its leaf. ${PROOF_HELP}`)
    .action(async (executionId: Uint8Array, options: DisputeOptions) => {
      const { disputeExecution } = await import('../../sdk/wallet/disputes.ts');
      const { archiveFrom } = await import('../../sdk/wallet/archive.ts');
      const wallet = await readWallet(options);
      const { evidence, evidenceUri, hashOnly } = options;
      const bytes = readBytes(evidence);
      if (!hashOnly) requireSize(evidence, bytes);
      const findArchive = archiveFrom(serviceOf(options));
      const evidenceHash = sha256(bytes);
      const claimed = { wallet, executionId, evidenceHash, evidenceUri, findArchive, onProgress: report };
      const opened = await disputeExecution(await openOnChain(options), claimed);
      const evidence_uploaded = !hashOnly && (await upload(options, wallet, executionId, bytes));
      printResult({ ...opened, evidence_uploaded }, options.json);
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

function requireSize(path: string, { length }: Buffer): void {
  if (length > 0 && length <= MAX_EVIDENCE_BYTES) return;
  throw new Refusal(
    `${path} has ${length} bytes, but the marketplace takes 1 to ${MAX_EVIDENCE_BYTES}. Shorten it, or send only its hash with --hash-only.`,
  );
}

/** Sends the evidence of an open dispute. If that fails, the dispute stays open, and the page can still take the file. */
async function upload(
  options: DisputeOptions,
  wallet: Signer,
  executionId: Uint8Array,
  bytes: Buffer,
): Promise<boolean> {
  const { uploadEvidence } = await import('../../sdk/wallet/disputes.ts');
  const content = bytes.toString('base64');
  const mediaType = own(MEDIA_TYPES, extname(options.evidence).toLowerCase()) ?? 'application/octet-stream';
  try {
    await uploadEvidence(serviceOf(options), { wallet, executionId, content, mediaType });
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    report(`The dispute is open, but the marketplace does not have the evidence: ${error.message}`);
    report("Upload the file on the dispute's page before the decision.");
    return false;
  }
}

function toUri(text: string): string {
  if (Buffer.byteLength(text) <= constants.maxUriLength) return text;
  throw new InvalidArgumentError(`It must be at most ${constants.maxUriLength} bytes.`);
}
