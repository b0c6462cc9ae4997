/** Key files of wallets and signing keys, created without any other tool. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { useFolder } from '../harness/folder.ts';
import { runHere } from './run.ts';

describe('keys new', () => {
  const directory = useFolder('cli');

  it('creates a key file that only its owner can read, and prints the address', async () => {
    const path = join(directory, 'wallet.json');
    const { code, stdout, stderr } = await runHere(['keys', 'new', path, '--json']);
    expect(code).to.equal(0);
    expect(stderr).to.include('Keep a copy of the file');
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    const bytes: number[] = JSON.parse(readFileSync(path, 'utf8'));
    expect(bytes).to.have.length(64);
    const { publicKey } = Keypair.fromSecretKey(Uint8Array.from(bytes));
    expect(JSON.parse(stdout)).to.deep.equal({ file: path, address: publicKey.toBase58() });
  });

  it('does not change an existing file, whatever it contains', async () => {
    const path = join(directory, 'notes.txt');
    writeFileSync(path, 'mine');
    const { code, stdout, stderr } = await runHere(['keys', 'new', path]);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.equal(
      `${path} already exists. Choose another path: overwriting a key file would lose its key permanently.\n`,
    );
    expect(readFileSync(path, 'utf8')).to.equal('mine');
  });

  it('reports a bad path', async () => {
    const { code, stderr } = await runHere(['keys', 'new', join(directory, 'nowhere', 'key.json')]);
    expect(code).to.equal(1);
    expect(stderr).to.equal(`The folder ${join(directory, 'nowhere')} does not exist.\n`);
  });

  it('is suggested to a user without such a file', async () => {
    const missing = join(directory, 'none.json');
    const { code, stderr } = await runHere(['keys', 'list', '--keypair', missing]);
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      `Cannot read the wallet's keypair: ${missing} does not exist. To create one, run \`npm run cli -- keys new FILE\`.\n`,
    );
  });
});
