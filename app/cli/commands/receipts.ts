/** `execution receipt`, `verify` and `delete`: get a call's receipt, check any receipt, and delete a call's content. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { parseUuid } from '../../sdk/receipt/receipt.ts';
import type { Check, ExecutionFacts } from '../../sdk/receipt/verify.ts';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import { parseJsonFile } from '../../sdk/wire/jsonFile.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { type CommonOptions, fromCaller, readSettings } from '../config.ts';
import { printResult } from '../output.ts';
import { readWallet, serviceOf, toExecutionId, withMarketplace, withWallet } from './options.ts';

const STATES = { passed: 'passed', failed: 'FAILED', not_checked: 'not checked' };

export function addReceipt(group: Command): void {
  withWallet(group.command('receipt'))
    .description('get the receipt of a settled execution of this wallet: JSON that anyone can check')
    .argument('<execution_id>', 'the execution', toExecutionId)
    .option('--file <path>', 'write the receipt to this file instead of printing it')
    .action(async (executionId: Uint8Array, options: CommonOptions & { file?: string }) => {
      const { fetchReceipt } = await import('../../sdk/wallet/receipts.ts');
      const wallet = await readWallet(options);
      const receipt = await fetchReceipt(serviceOf(options), { wallet, executionId });
      // A receipt is a JSON document, so it is printed as one even without --json.
      if (options.file === undefined) return printResult(receipt, true);
      const path = fromCaller(options.file);
      write(path, `${JSON.stringify(receipt, null, 2)}\n`);
      printResult({ execution_id: receipt.execution_id, file: path }, options.json);
    });
}

export function addDelete(group: Command): void {
  withWallet(group.command('delete'))
    .description(
      'delete task, parameters and result of an ended execution of this wallet from the service, permanently; get its receipt first',
    )
    .argument('<execution_id>', 'the execution', toExecutionId)
    .action(async (executionId: Uint8Array, options: CommonOptions) => {
      const { deleteContent } = await import('../../sdk/wallet/receipts.ts');
      const wallet = await readWallet(options);
      printResult(await deleteContent(serviceOf(options), { wallet, executionId }), options.json);
    });
}

export function addVerify(group: Command): void {
  withMarketplace(group.command('verify'))
    .description('check a receipt, by itself and against any Solana node, or check an execution on the chain by its id')
    .argument('<receipt>', 'a file with a receipt, or an execution_id')
    .addHelpText(
      'after',
      'Exit code 0: no check failed; a refund in full counts as valid. Exit code 1: a check failed, or the execution ' +
        'has not ended. Checks that could not be made are listed and do not fail the command.',
    )
    .action(async (given: string, options: CommonOptions) => {
      const { prove } = await import('../../sdk/wallet/receipts.ts');
      const executionId = parseUuid(given);
      const subject = executionId ? { executionId } : { receipt: readReceipt(fromCaller(given)) };
      const { rpcUrl } = readSettings(options);
      const { json } = options;
      const found: ExecutionFacts[] = [];
      const onFacts = (facts: ExecutionFacts): void => void found.push(facts);
      const checks = await prove(serviceOf(options), {
        subject,
        rpcUrl,
        onFacts,
        ...(!json && { onCheck: printCheck }),
      });
      const counted = (state: Check['state']) => checks.filter((check) => check.state === state).length;
      const counts = { passed: counted('passed'), failed: counted('failed'), not_checked: counted('not_checked') };
      const ending = showEnding(found[0]);
      printResult(json ? { ...counts, ...ending, checks } : { ...counts, ...ending }, json);
      if (counts.failed > 0)
        throw new Refusal(
          executionId ? 'The execution is not valid: a check failed.' : 'The receipt is not valid: a check failed.',
        );
      if (executionId && ending.status === 'open')
        throw new Refusal('The execution has not ended yet: its price is still in escrow.');
    });
}

interface Ending {
  status?: string;
  refunded_usdc?: number;
  refund_transaction?: string;
}

/** The outcome on the chain. A closed record has no status, but its transactions show a refund. */
function showEnding(facts: ExecutionFacts | undefined): Ending {
  if (facts?.refund) {
    const { amount, transaction } = facts.refund;
    return { status: 'refunded', refunded_usdc: toUsdc(amount), refund_transaction: transaction };
  }
  return facts?.status ? { status: facts.status } : {};
}

/** Prints the state, then the values that differ, or the reason why it was not checked. */
function printCheck({ name, state, compared, source, reason }: Check): void {
  const from = state === 'not_checked' ? '' : ` (${source})`;
  console.log(`${STATES[state].padEnd(11)}  ${name}${from}`);
  const shown = state === 'failed' ? compared.filter(({ got, expected }) => got !== expected) : compared;
  for (const { what, got, expected } of shown) {
    console.log(`             ${what}: ${brief(got)}${got === expected ? '' : `, not ${brief(expected)}`}`);
  }
  if (reason !== null) console.log(`             ${brief(reason)}`);
}

const MOST_SHOWN = 240;
/** One line, without control characters, which a terminal could execute. */
const brief = (text: string): string => {
  const plain = text.replaceAll(/\p{Cc}/gu, ' ');
  return plain.length > MOST_SHOWN ? `${plain.slice(0, MOST_SHOWN)}...` : plain;
};

function readReceipt(path: string): unknown {
  let content: Uint8Array;
  try {
    content = readFileSync(path);
  } catch (error) {
    throw new Refusal(`${path} is not an execution_id, and cannot be read as a file: ${(error as Error).message}`);
  }
  try {
    return parseJsonFile(content);
  } catch {
    throw new Refusal(`${path} is not a receipt: it is not JSON.`);
  }
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new Refusal(`${path} cannot be written: ${(error as Error).message}`);
  }
}
