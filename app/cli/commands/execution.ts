/** `execution`: a paid call and its escrow, between a wallet and the chain. */
import { Command } from 'commander';
import { requestHash } from '../../sdk/receipt/receipt.ts';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import type { CommonOptions } from '../config.ts';
import { printResult, report } from '../output.ts';
import {
  type Address,
  open,
  openOnChain,
  publicKeyOf,
  readWallet,
  serviceOf,
  toAddress,
  toAmount,
  toBytes,
  toCount,
  toExecutionId,
  toObject,
  U32_MAX,
  withMarketplace,
  withWallet,
} from './options.ts';
import { addDelete, addReceipt, addVerify } from './receipts.ts';

const HASH_BYTES = 32;
const NONCE_TAIL_BYTES = 12;

interface OpenOptions extends CommonOptions {
  task?: string;
  parameters?: object;
  requestHash?: Uint8Array;
  maxPrice?: bigint;
  timeoutSeconds?: number;
  nonceTail?: Uint8Array;
  source?: Address;
}

export function executionCommands(): Command {
  const group = new Command('execution').description(
    'open, start, show and refund executions on-chain; receipts; deletion',
  );
  addOpen(group);
  addStart(group);
  addShow(group);
  addReceipt(group);
  addDelete(group);
  addVerify(group);
  addRefund(group);
  addClose(group);
  return group;
}

function addOpen(group: Command): void {
  withWallet(group.command('open'))
    .description("put an agent's price into escrow for one request, with the wallet's own USDC")
    .argument('<agent_id>', 'the agent', toAddress)
    .option('--task <text>', 'the request; only its hash goes on-chain')
    .option('--parameters <json>', 'its parameters, an object (default: {})', toObject)
    .option('--request-hash <hex>', 'hash of the request, instead of --task and --parameters', toBytes(HASH_BYTES))
    .option('--max-price <usdc>', 'maximum price; a higher price is refused (default: the present price)', toAmount)
    .option('--timeout-seconds <n>', "timeout of the execution (default: the agent's maximum)", toCount(U32_MAX))
    .option(
      '--nonce-tail <hex>',
      'last 12 bytes of the nonce, after the half-hour; not used by this wallet in the last hour (default: random)',
      toBytes(NONCE_TAIL_BYTES),
    )
    .option('--source <address>', "USDC account of the wallet that pays (default: the wallet's own)", toAddress)
    .action(async (agent: Address, options: OpenOptions) => {
      const { openByWallet } = await import('../../sdk/wallet/executions.ts');
      const wallet = await readWallet(options);
      const { maxPrice, timeoutSeconds, nonceTail, source } = options;
      const terms = {
        wallet,
        agentId: await publicKeyOf(agent),
        requestHash: requestHashOf(options),
        onProgress: report,
        ...(maxPrice && { maxPrice }),
        ...(timeoutSeconds && { timeoutSeconds }),
        ...(nonceTail && { nonceTail }),
        ...(source && { source: await publicKeyOf(source) }),
      };
      printResult(await openByWallet(await openOnChain(options), terms), options.json);
    });
}

function addStart(group: Command): void {
  withWallet(group.command('start'))
    .description('run an execution that the wallet opened itself, and wait for the result')
    .argument('<execution_id>', 'the execution', toExecutionId)
    .requiredOption('--task <text>', 'the request that it was opened for')
    .option('--parameters <json>', 'its parameters, an object (default: {})', toObject)
    .action(
      async (
        executionId: Uint8Array,
        options: CommonOptions & { task: string; parameters?: Record<string, unknown> },
      ) => {
        const { startByWallet } = await import('../../sdk/wallet/executions.ts');
        const wallet = await readWallet(options);
        const { task, parameters } = options;
        const started = { wallet, executionId, task, ...(parameters && { parameters }) };
        printResult(await startByWallet(await open(options), started), options.json);
      },
    );
}

function addShow(group: Command): void {
  withMarketplace(group.command('show'))
    .description('show an execution as it is on the chain: terms, state, escrow')
    .argument('<execution_id>', 'the execution', toExecutionId)
    .action(async (executionId: Uint8Array, options: CommonOptions) => {
      const { showExecution } = await import('../../sdk/wallet/executions.ts');
      const { archiveFrom } = await import('../../sdk/wallet/archive.ts');
      const findArchive = archiveFrom(serviceOf(options));
      printResult(await showExecution(await openOnChain(options), executionId, findArchive, report), options.json);
    });
}

type RefundOptions = CommonOptions & { destination?: Address };

function addRefund(group: Command): void {
  withWallet(group.command('refund'))
    .description(
      'return the escrow to the caller; anyone can do this from refund_at on, the relay authority also earlier',
    )
    .argument('<execution_id>', 'the execution', toExecutionId)
    .option('--destination <address>', 'another USDC account of the caller; the caller must then sign', toAddress)
    .action(async (executionId: Uint8Array, options: RefundOptions) => {
      const { refund } = await import('../../sdk/wallet/executions.ts');
      const wallet = await readWallet(options);
      const { destination } = options;
      const ended = { wallet, executionId, ...(destination && { destination: await publicKeyOf(destination) }) };
      printResult(await refund(await openOnChain(options), ended), options.json);
    });
}

function addClose(group: Command): void {
  withWallet(group.command('close'))
    .description(
      'remove the record of an execution: a refunded one an hour after its open, others a year after the dispute window; anyone can do this',
    )
    .argument('<execution_id>', 'the execution', toExecutionId)
    .action(async (executionId: Uint8Array, options: CommonOptions) => {
      const { closeRecord } = await import('../../sdk/wallet/executions.ts');
      const wallet = await readWallet(options);
      printResult(await closeRecord(await openOnChain(options), { wallet, executionId }), options.json);
    });
}

function requestHashOf({ task, parameters, requestHash: given }: OpenOptions): Uint8Array {
  if (given !== undefined && task === undefined && parameters === undefined) return given;
  if (given === undefined && task !== undefined) return requestHash(task, parameters);
  throw new Refusal('The request is missing. Give --task TEXT (and --parameters JSON), or only --request-hash HEX.');
}
