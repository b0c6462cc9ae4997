/**
 * Compares all verifiers of a signature: the program (its own signature.rs, in tests/program/verifier), the runtime's
 * Ed25519 program, and the SDK, which the relay uses in Node and callers use in a browser. All must give the same
 * verdict. The first two can check only signatures of 64 bytes: the program's argument has this length, and the runtime
 * always reads 64 bytes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ed25519Program, type TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import { satisfiesAnywhere } from '../../app/sdk/receipt/crypto.ts';
import { admissibleSignature, verifyMessage } from '../../app/sdk/receipt/receipt.ts';
import { signAll } from '../harness/vm/keys.ts';
import { nameFailure } from '../harness/vm/outcome.ts';
import { deployVerifier, type Signed, TEST_VERIFIER_ID, verified } from '../harness/vm/verifier.ts';
import { Vm } from '../harness/vm/vm.ts';
import { type Case, forgeries } from './forgeries.ts';

/** Enough for about twenty of each kind of forgery. ROUNDS=n runs more, as in the suite `fuzz`. */
const ROUNDS = Number(process.env.ROUNDS ?? 500);
/** The SDK's browser check takes milliseconds. */
const ROUNDS_PER_PORTABLE_CHECK = 16;
/** Compute units of an instruction that verifies the 71-byte message of a result. */
const MOST_UNITS = 20_500;
/** Forgeries that are refused before anything is hashed, and their cost including the error's log. */
const EARLY = ['S plus multiples of L', 'a key of small order', 'a key above the prime'];
const MOST_UNITS_EARLY = 3_500;
/** With this much instruction data, a transaction certainly fits into a packet of 1,232 bytes. */
const LONGEST_IN_A_PACKET = 900;
const REFUSALS = [`${TEST_VERIFIER_ID.toBase58()}:6000`, 'ed25519:InvalidSignature', 'ed25519:InvalidPublicKey'];
const SETS = { wycheproof: 151, rfc8032: 5, taming: 12 };

function vectors(): (Case & { name: string })[] {
  const lines = readFileSync(join(import.meta.dirname, 'signature.vectors.txt'), 'utf8')
    .trim()
    .split('\n');
  const bytes = (hex: string) => (hex === '-' ? new Uint8Array() : Uint8Array.from(Buffer.from(hex, 'hex')));
  return lines
    .filter((line) => !line.startsWith('#'))
    .map((line) => {
      const [kind = '', index, verdict, key = '', message = '', signature = '', ...words] = line.split(' ');
      const name = `${kind} ${index}: ${words.join(' ')}`;
      const isGood = verdict === 'valid';
      return { kind, name, isGood, key: bytes(key), message: bytes(message), signature: bytes(signature) };
    });
}

const precompiled = ({ key, message, signature }: Signed): TransactionInstruction =>
  Ed25519Program.createInstructionWithPublicKey({ publicKey: key, message, signature });

/**
 * A transaction with this instruction. Version 0, because web3.js converts the data of a legacy message to base58 and
 * back, which is slower than the VM. A legacy one if it exceeds a packet, which VMs accept.
 */
async function signed(vm: Vm, instruction: TransactionInstruction): Promise<VersionedTransaction> {
  const [payerKey, recentBlockhash] = [vm.feePayer.publicKey, await vm.blockhash()];
  const message = new TransactionMessage({ payerKey, recentBlockhash, instructions: [instruction] });
  if (instruction.data.length <= LONGEST_IN_A_PACKET) return signAll(message.compileToV0Message(), [vm.feePayer]);
  const transaction = new VersionedTransaction(message.compileToLegacyMessage());
  transaction.sign([vm.feePayer]);
  return transaction;
}

/** Verdict and cost of the instruction. Throws if it fails for another reason than the signature. */
async function passes(vm: Vm, instruction: TransactionInstruction): Promise<{ verdict: boolean; units: number }> {
  const transaction = await signed(vm, instruction);
  const { failure, logs, computeUnits } = await vm.simulate(transaction.serialize());
  if (!failure) return { verdict: true, units: computeUnits };
  const { name } = nameFailure(failure, [instruction], logs);
  if (!REFUSALS.includes(name)) throw new Error(`not a verdict: ${name}`);
  return { verdict: false, units: computeUnits };
}

/** `verifyMessage` without Node's cryptography. */
function verifyInBrowser(publicKey: Uint8Array, message: Uint8Array, signature: string): boolean {
  const bytes = admissibleSignature(publicKey, signature);
  return bytes !== null && satisfiesAnywhere(publicKey, message, bytes);
}

describe('signatures', () => {
  let vm: Vm;

  before(async () => {
    // The old runtime does not check Ed25519 instructions.
    vm = await Vm.create('litesvm');
    deployVerifier(vm);
  });

  async function verdicts(one: Signed, withPortable = true): Promise<Record<string, boolean>> {
    const text = `ed25519:${bs58.encode(one.signature)}`;
    return {
      program: (await passes(vm, verified(one))).verdict,
      precompile: (await passes(vm, precompiled(one))).verdict,
      relay: verifyMessage(one.key, one.message, text),
      ...(withPortable && { receipt: verifyInBrowser(one.key, one.message, text) }),
    };
  }

  const all = (isGood: boolean) => ({ program: isGood, precompile: isGood, relay: isGood, receipt: isGood });

  for (const [set, count] of Object.entries(SETS)) {
    it(`get the expected verdict from all verifiers for the ${count} vectors of ${set}`, async () => {
      const ours = vectors().filter(({ kind }) => kind === set);
      expect(ours.length).to.equal(count);
      for (const one of ours) {
        if (one.signature.length === 64) {
          expect(await verdicts(one), one.name).to.deep.equal(all(one.isGood));
          continue;
        }
        const text = `ed25519:${bs58.encode(one.signature)}`;
        const relay = [verifyMessage, verifyInBrowser].map((verify) => verify(one.key, one.message, text));
        expect([one.isGood, ...relay], one.name).to.deep.equal([false, false, false]);
      }
    });
  }

  it(`get the same verdict from all verifiers for ${ROUNDS} random, mutated and malformed signatures`, async function () {
    this.timeout(900_000);
    const kinds = new Map<string, number>();
    let round = 0;
    for (const one of forgeries('signatures', ROUNDS)) {
      const withPortable = round % ROUNDS_PER_PORTABLE_CHECK === 0;
      const said = await verdicts(one, withPortable);
      if (Object.values(said).some((verdict) => verdict !== one.isGood)) {
        const hex = [one.key, one.message, one.signature].map((part) => Buffer.from(part).toString('hex'));
        expect.fail(`round ${round}, ${one.kind}, ${one.isGood ? 'good' : 'bad'}: ${JSON.stringify(said)} ${hex}`);
      }
      const kind = `${one.kind}, ${one.isGood ? 'good' : 'bad'}`;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      round += 1;
    }
    // 17 changes of a valid one, two ways of small order, honest ones, and both outcomes of mixed order.
    expect(kinds.size).to.equal(22);
    expect(Math.min(...kinds.values())).to.be.at.least(ROUNDS / 100);
  });

  it(`cost at most ${MOST_UNITS} compute units for a result's message, and ${MOST_UNITS_EARLY} when it need not be hashed`, async () => {
    const units = { good: [] as number[], early: [] as number[] };
    for (const one of forgeries('units', 690)) {
      if (one.isGood && one.message.length === 71) units.good.push((await passes(vm, verified(one))).units);
      if (EARLY.includes(one.kind)) units.early.push((await passes(vm, verified(one))).units);
    }
    expect([units.good.length, units.early.length].every((count) => count >= 20)).to.equal(true);
    expect(Math.max(...units.good)).to.be.at.most(MOST_UNITS);
    expect(Math.max(...units.early)).to.be.at.most(MOST_UNITS_EARLY);
  });
});
