/** Keypairs and settings under any name, in any folder of a checkout, get neither into git nor into the image. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { filesOfGit, isSent } from '../harness/edge/image.ts';
import { useFolder } from '../harness/folder.ts';
import { ROOT } from './markdown.ts';

/** Names that the documents, Solana's tools, OpenSSL and habit give to keys and settings. */
const NAMES = `
  relay-authority.json upgrade-authority.json upgrade-authority.buffer.json program.json program-keypair.json
  relay-1.json x402-fee-payer.json admin.json call-keys.json id.json id id_ed25519 wallet wallet.txt wallet.key
  wallet.keypair wallet.pem wallet.json.bak wallet.JSON backup.db .env .env.production marketplace.env compose.env
  compose.override.yaml
`
  .trim()
  .split(/\s+/);

const git = (cwd: string, ...args: string[]): string[] =>
  execFileSync('git', args, { cwd, encoding: 'utf8' }).split('\0').filter(Boolean);

describe('key files in a checkout', () => {
  const tracked = filesOfGit();
  const folders = [...new Set(tracked.map(dirname))];
  const planted = folders
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .filter((path) => !folders.includes(path));
  const folder = useFolder('marketplace-keys');

  before(() => {
    const keypair = JSON.stringify([...Keypair.generate().secretKey]);
    git(folder, 'init', '--quiet');
    cpSync(join(ROOT, '.gitignore'), join(folder, '.gitignore'));
    for (const path of planted) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), keypair);
    }
  });

  it('are ignored by git, in every folder', () => {
    expect(planted.length).to.be.greaterThan(2_000);
    expect(planted.filter((path) => tracked.includes(path))).to.deep.equal([]);
    expect(git(folder, 'status', '--porcelain', '-z', '--untracked-files=all')).to.deep.equal(['?? .gitignore']);
  });

  it('are ignored without ignoring a file of the project', () => {
    expect(git(ROOT, 'ls-files', '-z', '--cached', '--ignored', '--exclude-standard')).to.deep.equal([]);
  });

  it('do not get into the image, which has all sources of the page', () => {
    const sent = isSent();
    expect(planted.filter(sent)).to.deep.equal([]);
    const page = /^app\/(dashboard|sdk)\/(?!.*(LICENSE|\.md)$)/;
    expect(tracked.filter((path) => page.test(path) && !sent(path))).to.deep.equal(['app/sdk/tsconfig.json']);
  });
});
