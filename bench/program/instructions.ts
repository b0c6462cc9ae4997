/** The cost of every instruction, in the state in which the tests break the constraints of its accounts. */
import type { Keypair } from '@solana/web3.js';
import { idl } from '../../app/sdk/program/program.ts';
import { type World, world } from '../../tests/harness/vm/world.ts';
import { ripe, TestArchive } from '../../tests/program/archiving.ts';
import { EARLY, keyring, signersOf, stage } from '../../tests/program/generated/parties.ts';
import { SCENARIOS } from '../../tests/program/generated/scenarios.ts';
import { type Cost, measure } from './measure.ts';

export const ARCHIVE_TWELVE = 'archive_executions (12)';

export async function instructionCosts(): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (const { name, accounts } of idl.instructions) {
    const market = await stage(name);
    const payer = EARLY.includes(name) ? market.w.vm.upgradeAuthority : payerOf(market.w, accounts);
    const side = { ...market.mine, payer, sponsor: payer.publicKey };
    const instruction = await SCENARIOS[name]!(market.w, side);
    const signers = [...new Set(signersOf(instruction, keyring(market)))];
    const step = { name, instructions: [instruction], signers: signers.length > 0 ? signers : [payer] };
    costs.push(await measure(market.w.vm, step));
  }
  return [...costs, await archiveOfTwelve()];
}

/** Who must sign pays the rent too, so that one signature is enough; the relay if it may be anyone. */
function payerOf(
  { admin, creator, caller, relay }: World,
  accounts: readonly { name: string; signer?: boolean }[],
): Keypair {
  const people: Record<string, Keypair> = { admin, creator, caller, wallet: caller };
  const signer = accounts.find((account) => account.signer);
  return people[signer?.name ?? ''] ?? relay;
}

/** As many records of one sponsor as fit in a transaction. */
async function archiveOfTwelve(): Promise<Cost> {
  const w = await world({ kind: 'litesvm' });
  const archive = await new TestArchive(w).create();
  const instructions = [archive.archive(await ripe(w, 12))];
  return measure(w.vm, { name: ARCHIVE_TWELVE, instructions, signers: [w.relay] });
}
