/**
 * `npm run migrate -- --deploy`: deploys the program to a cluster with the upgradeable loader, or upgrades it. An
 * interrupted run is continued by the next, which reads what the buffer already contains.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import anchor from '@coral-xyz/anchor';
import { type Connection, Keypair, SendTransactionError, SystemProgram } from '@solana/web3.js';
import { printResult, report } from '../../app/cli/output.ts';
import { createKeyFile, readKeypair } from '../../app/cli/wallet.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { connectForCommand } from '../../app/solana/rpc.ts';
import { sendAndPoll } from '../../migrations/deploy.ts';
import {
  BUFFER_HEADER,
  closeBuffer,
  decodeProgramData,
  deployBuffer,
  extendProgram,
  findProgramDataOf,
  initializeBuffer,
  LOADER,
  PROGRAM_BYTES,
  upgradeToBuffer,
} from './loader.ts';
import { type Deployment, type Plan, planDeployment, requireBuffer } from './plan.ts';
import { fillBuffer } from './write.ts';

const ARTIFACT = 'programs/marketplace/artifact/marketplace.so';
const ROOT = resolve(import.meta.dirname, '..', '..');
const POLL_MS = 250;
const LAMPORTS_PER_SOL = 1e9;

export interface DeployOptions {
  deploy?: true;
  closeBuffer?: true;
  program?: string;
  programKeypair?: string;
  bufferKeypair?: string;
  skipFeatureCheck?: true;
  yes?: true;
  json?: true;
}

/** The output of `--json`. Amounts in lamports. */
type Outcome = ReturnType<typeof describe> & { done: boolean; paid_lamports?: number };

/** Shows the price and, with `--yes`, deploys. Errors are messages to the user. */
export async function deployProgram(options: DeployOptions): Promise<void> {
  const { connection, wallet, bufferFile } = readPlace(options);
  const file = options.program ?? ARTIFACT;
  const program = options.programKeypair ? readKeypair(options.programKeypair, "the program's keypair") : null;
  const mayMake = options.yes && !existsSync(bufferFile);
  if (mayMake) createKeyFile(bufferFile);
  const buffer = existsSync(bufferFile) ? readKeypair(bufferFile, "the buffer's keypair") : Keypair.generate();
  const deployment: Deployment = {
    connection,
    wallet,
    programId: program?.publicKey ?? PROGRAM_ID,
    program,
    buffer: buffer.publicKey,
    file,
    bytes: readFileSync(options.program ? resolve(file) : resolve(ROOT, ARTIFACT)),
    skipFeatureCheck: options.skipFeatureCheck === true,
  };
  const plan = await planDeployment(deployment);
  const finish = (outcome: Outcome) => options.json && printResult(outcome, true);
  const described = describe(deployment, plan);
  if (plan.action === 'none') {
    report(`${file} is already deployed at ${deployment.programId}: nothing to do.`);
    finish({ ...described, done: true });
    return;
  }
  for (const line of priceLines(deployment, plan)) report(line);
  const short = plan.needed - plan.balance;
  if (short > 0) {
    throw new Error(
      `The balance is too small by ${amount(short)}. Nothing was spent. Send that much to ${wallet.publicKey} and try again.`,
    );
  }
  if (!options.yes) {
    report('Nothing was spent. To do it, repeat the command with --yes.');
    finish({ ...described, done: false });
    return;
  }
  await carryOut(deployment, plan, buffer).catch((error) => {
    throw new Error(
      `${reasonOf(error)}\nRepeat the command to resume where it stopped. To give up, return the lamports in the buffer with --close-buffer.`,
    );
  });
  const paid = plan.balance - (await connection.getBalance(wallet.publicKey));
  const cost = paid < 0 ? `and ${amount(-paid)} came back` : `for ${amount(paid)}`;
  report(`${plan.action === 'deploy' ? 'Deployed' : 'Upgraded'} ${deployment.programId}, ${cost}.`);
  finish({ ...described, done: true, paid_lamports: paid });
}

/** Closes the buffer of an abandoned deployment, and returns its lamports to the wallet. */
export async function returnBuffer(options: DeployOptions): Promise<void> {
  const { connection, wallet, bufferFile } = readPlace(options);
  const buffer = readKeypair(bufferFile, "the buffer's keypair").publicKey;
  const account = await connection.getAccountInfo(buffer);
  if (!account) {
    report(`There is no buffer ${buffer} on this cluster: nothing to return.`);
    if (options.json) printResult({ buffer: buffer.toBase58(), returned_lamports: 0 }, true);
    return;
  }
  requireBuffer(buffer, wallet.publicKey, account);
  await sendAndPoll(connection, new anchor.Wallet(wallet), [closeBuffer(buffer, wallet.publicKey)]);
  report(`Closed the buffer ${buffer}: ${amount(account.lamports)} returned to ${wallet.publicKey}.`);
  if (options.json) printResult({ buffer: buffer.toBase58(), returned_lamports: account.lamports }, true);
}

/** Reads Anchor's two environment variables for cluster and wallet. */
function readPlace({ bufferKeypair }: DeployOptions) {
  const { ANCHOR_PROVIDER_URL: url, ANCHOR_WALLET: walletFile } = process.env;
  if (!url) throw new Error('Set ANCHOR_PROVIDER_URL to the JSON-RPC address of the cluster.');
  if (!walletFile)
    throw new Error("Set ANCHOR_WALLET to the keypair file of the program's upgrade authority, who pays.");
  const wallet = readKeypair(walletFile, "the upgrade authority's keypair");
  const connection = connectForCommand(url, 'ANCHOR_PROVIDER_URL');
  return { connection, wallet, bufferFile: bufferKeypair ?? `${walletFile.replace(/\.json$/, '')}.buffer.json` };
}

async function carryOut(deployment: Deployment, plan: Plan, buffer: Keypair): Promise<void> {
  const { connection, wallet, programId, program, bytes } = deployment;
  const authority = wallet.publicKey;
  const parties = { programId, buffer: buffer.publicKey, authority };
  const signing = new anchor.Wallet(wallet);
  if (!plan.bufferExists) {
    const instructions = [
      SystemProgram.createAccount({
        fromPubkey: authority,
        newAccountPubkey: buffer.publicKey,
        lamports: plan.bufferRent,
        space: BUFFER_HEADER + bytes.length,
        programId: LOADER,
      }),
      initializeBuffer(buffer.publicKey, authority),
    ];
    await sendAndPoll(connection, signing, instructions, [buffer]);
  }
  report(`The buffer is ${buffer.publicKey}.`);
  await fillBuffer({
    connection,
    wallet,
    buffer: buffer.publicKey,
    bytes,
    onProgress: (done, all) => report(`${done} of ${all} chunks are in the buffer.`),
  });
  if (plan.action === 'deploy') {
    const instructions = [
      SystemProgram.createAccount({
        fromPubkey: authority,
        newAccountPubkey: programId,
        lamports: await connection.getMinimumBalanceForRentExemption(PROGRAM_BYTES),
        space: PROGRAM_BYTES,
        programId: LOADER,
      }),
      deployBuffer(parties, bytes.length),
    ];
    await sendAndPoll(connection, signing, instructions, [program!]);
  } else {
    if (plan.extension > 0) {
      const { slot } = await sendAndPoll(connection, signing, [extendProgram(programId, authority, plan.extension)]);
      await untilAfter(connection, slot);
    }
    await sendAndPoll(connection, signing, [upgradeToBuffer(parties)]);
  }
  const account = await connection.getAccountInfo(findProgramDataOf(programId));
  const stands = account && decodeProgramData(account.data)?.bytes.subarray(0, bytes.length).equals(bytes);
  if (!stands) throw new Error(`The node does not show the bytes of ${deployment.file} at ${programId}.`);
}

/** The loader allows one change of a program per slot. */
async function untilAfter(connection: Connection, slot: number): Promise<void> {
  while ((await connection.getSlot()) <= slot) await delay(POLL_MS);
}

function describe({ programId, buffer, file, bytes, wallet }: Deployment, plan: Plan) {
  return {
    action: plan.action,
    program_id: programId.toBase58(),
    program_data: findProgramDataOf(programId).toBase58(),
    file,
    bytes: bytes.length,
    wallet: wallet.publicKey.toBase58(),
    buffer: plan.action === 'none' ? null : buffer.toBase58(),
    transactions: plan.transactions,
    fees_lamports: plan.fees,
    rent_lamports: plan.rent,
    buffer_lamports: plan.bufferRent,
    extension_bytes: plan.extension,
    price_lamports: plan.price,
    needed_lamports: plan.needed,
    balance_lamports: plan.balance,
  };
}

function priceLines({ programId, file, bytes, wallet }: Deployment, plan: Plan): string[] {
  const what = plan.action === 'deploy' ? 'Deploys' : 'Upgrades';
  const room = plan.extension > 0 ? ` The program's account grows by ${plan.extension} bytes.` : '';
  return [
    `${what} ${programId} with ${file}, ${bytes.length} bytes.${room}`,
    `  deposit of the program, stays there  ${amount(plan.rent)}`,
    `  fees of ${`${plan.transactions} transactions`.padEnd(28)} ${amount(plan.fees)}`,
    `  deposit of the buffer, returned      ${amount(plan.bufferRent)}${plan.bufferExists ? ', already paid' : ''}`,
    plan.price < 0
      ? `  total, comes back                    ${amount(-plan.price)}`
      : `  total cost                           ${amount(plan.price)}`,
    `  balance needed                       ${amount(plan.needed)}`,
    `  balance of the wallet                ${amount(plan.balance)}, ${wallet.publicKey}`,
  ];
}

const amount = (lamports: number): string => `${lamports} lamports (${(lamports / LAMPORTS_PER_SOL).toFixed(4)} SOL)`;

/** The reason why the node refused a transaction, with the program's log. */
function reasonOf(error: Error): string {
  if (!(error instanceof SendTransactionError)) return error.message;
  return [error.transactionError.message, ...(error.transactionError.logs ?? [])].join('\n  ');
}
