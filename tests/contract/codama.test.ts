/**
 * Codama generates a client from the program's IDL. It must type-check, and make the instructions of the SDK, which
 * tests/program runs.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TransactionInstruction } from '@solana/web3.js';
import { expect } from 'chai';
import { build } from 'esbuild';
import { decodeAccount } from '../../app/sdk/program/program.ts';
import { installNode, requireTools, run } from '../harness/edge/tools.ts';
import { idl } from '../integrator/idl.ts';
import { market } from '../program/generated/parties.ts';
import { SCENARIOS } from '../program/generated/scenarios.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const HERE = join(import.meta.dirname, 'clients');
const IDL = join(ROOT, 'app/sdk/program/idl/marketplace.json');
/** TypeScript 7, which takes a third of the time. */
const TSC = join(ROOT, 'node_modules/typescript-native/bin/tsc');

/** What @solana/kit makes. */
interface Made {
  programAddress: string;
  accounts: { address: string; role: number }[];
  data: Uint8Array;
}

describe('a client that Codama generates from the IDL', () => {
  let folder: string;
  before(async function () {
    const tools = await installNode('contract-clients', HERE);
    requireTools(this, tools);
    // Inside the project, so that @solana/kit is found.
    folder = mkdtempSync(join(ROOT, 'target', 'codama-'));
    const maker = join(folder, 'maker');
    mkdirSync(maker);
    symlinkSync(join(tools.folder, 'node_modules'), join(maker, 'node_modules'));
    copyFileSync(join(HERE, 'codama.mjs'), join(maker, 'codama.mjs'));
    copyFileSync(join(HERE, 'escrow.ts'), join(folder, 'escrow.ts'));
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    const made = await node('maker/codama.mjs', IDL, 'generated');
    expect(made.code, made.output).to.equal(0);
  });
  after(() => {
    if (folder) rmSync(folder, { recursive: true });
  });

  const node = (...args: string[]) => run(process.execPath, args, { cwd: folder });

  it('type-checks together with a program that uses it', async () => {
    const compilerOptions = {
      ...{ strict: true, noEmit: true, target: 'es2023', module: 'esnext', moduleResolution: 'bundler' },
      ...{ noUncheckedIndexedAccess: true, skipLibCheck: true, types: ['node'] },
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['escrow.ts', 'generated'] }),
    );
    const checked = await node(TSC, '-p', '.');
    expect(checked.code, checked.output).to.equal(0);
  });

  it("makes the SDK's instructions, reads a record, and encodes it as a leaf of an archive", async () => {
    const outfile = join(folder, 'escrow.mjs');
    const options = { bundle: true, format: 'esm', packages: 'external' } as const;
    await build({ ...options, entryPoints: [join(folder, 'escrow.ts')], outfile });
    const client = await import(outfile);
    const { w, mine } = await market();
    const accountsOf = (name: string, { keys }: TransactionInstruction) => {
      const { accounts } = idl.instructions.find((instruction) => instruction.name === name)!;
      return (account: string) => keys[accounts.findIndex((one) => one.name === account)]!.pubkey;
    };
    for (const [name, make] of [
      ['open_execution', client.open],
      ['refund_execution', client.refund],
    ] as const) {
      const ours = await SCENARIOS[name]!(w, mine);
      const account = accountsOf(name, ours);
      const theirs: Made = await make((of: string) => account(of).toBase58(), ours.data);
      expect(theirs.programAddress).to.equal(ours.programId.toBase58());
      expect(theirs.accounts.map(({ address, role }) => [address, role])).to.deep.equal(
        ours.keys.map(({ pubkey, isSigner, isWritable }) => [
          pubkey.toBase58(),
          (isSigner ? 2 : 0) + (isWritable ? 1 : 0),
        ]),
      );
      expect(Buffer.from(theirs.data).equals(ours.data), name).to.equal(true);
      if (name !== 'refund_execution') continue;
      const record = account('record');
      const data = Buffer.from((await w.vm.getAccount(record))!.data);
      const { price, caller, requestHash } = decodeAccount('ExecutionRecord', data);
      const read = { status: 'Open', price, caller: caller.toBase58(), requestHash: [...requestHash] };
      expect(client.read(record.toBase58(), data)).to.deep.equal(read);
    }
  });
});
