/** The accounts of the marketplace and the test caller under the upgradeable loader, to be written into a VM. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import { PROGRAM_ID } from '../../../app/sdk/program/program.ts';
import { TEST_CALLER_ID } from './outcome.ts';

export const LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');

/** Programs of every VM and their binaries as deployed on clusters. Paths from the repository's root. */
export const PROGRAMS: [PublicKey, string][] = [
  [PROGRAM_ID, process.env.PROGRAM_SO ?? 'programs/marketplace/artifact/marketplace.so'],
  [TEST_CALLER_ID, 'tests/program/caller/artifact/test_caller.so'],
];

/** The separate build for bankrun, which executes only SBPF v0. */
export function bankrunBinary(path: string): string {
  return `tests/program/bankrun/${basename(path)}`;
}

const binaries = new Map<string, Buffer>();

export function readProgram(path: string): Buffer {
  const binary = binaries.get(path) ?? readFileSync(path);
  binaries.set(path, binary);
  return binary;
}

/** Program and ProgramData accounts of the upgradeable loader: bincode with a u32 tag, deployed in slot 0. */
export function programAccounts(programId: PublicKey, binary: Buffer, authority: PublicKey) {
  const owner = LOADER;
  const [dataAddress] = PublicKey.findProgramAddressSync([programId.toBytes()], owner);
  const program = Buffer.concat([Buffer.from([2, 0, 0, 0]), dataAddress.toBytes()]);
  const header = Buffer.concat([Buffer.from([3, 0, 0, 0]), Buffer.alloc(8), Buffer.from([1]), authority.toBytes()]);
  const data = Buffer.concat([header, binary]);
  const rent = (bytes: number) => (128n + BigInt(bytes)) * 6_960n;
  return [
    { address: programId, account: { owner, data: program, lamports: rent(program.length), executable: true } },
    { address: dataAddress, account: { owner, data, lamports: rent(data.length), executable: false } },
  ] as const;
}
