/**
 * Keypairs and settings under any name, in any folder of a checkout, get neither into git nor into the image; and all
 * that the image needs does.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import { ROOT } from './markdown.ts';

/** Names that the documents, Solana's tools, OpenSSL and habit give to keys and settings. */
const NAMES = [
  'relay-authority.json',
  'upgrade-authority.json',
  'upgrade-authority.buffer.json',
  'program.json',
  'program-keypair.json',
  'relay-1.json',
  'x402-fee-payer.json',
  'admin.json',
  'call-keys.json',
  'id.json',
  'id',
  'id_ed25519',
  'wallet',
  'wallet.txt',
  'wallet.key',
  'wallet.keypair',
  'wallet.pem',
  'wallet.json.bak',
  'wallet.JSON',
  'backup.db',
  '.env',
  '.env.production',
  'marketplace.env',
  'compose.env',
  'compose.override.yaml',
];

const git = (cwd: string, ...args: string[]): string[] =>
  execFileSync('git', args, { cwd, encoding: 'utf8' }).split('\0').filter(Boolean);

describe('key files in a checkout', () => {
  const tracked = git(ROOT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard');
  const folders = [...new Set(tracked.map(dirname))];
  const planted = folders
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .filter((path) => !folders.includes(path));
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'marketplace-keys-'));
    const keypair = JSON.stringify([...Keypair.generate().secretKey]);
    git(folder, 'init', '--quiet');
    cpSync(join(ROOT, '.gitignore'), join(folder, '.gitignore'));
    for (const path of planted) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), keypair);
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('are ignored by git, in every folder', () => {
    expect(planted.length).to.be.greaterThan(2_000);
    expect(planted.filter((path) => tracked.includes(path))).to.deep.equal([]);
    expect(git(folder, 'status', '--porcelain', '-z', '--untracked-files=all')).to.deep.equal(['?? .gitignore']);
  });

  it('are ignored without ignoring a file of the project', () => {
    expect(git(ROOT, 'ls-files', '-z', '--cached', '--ignored', '--exclude-standard')).to.deep.equal([]);
  });

  it('do not get into the image, which has what relay, indexer and page are made of', () => {
    const isSent = dockerignore(readFileSync(join(ROOT, 'deploy', 'Dockerfile.dockerignore'), 'utf8'));
    expect(planted.filter(isSent)).to.deep.equal([]);
    const sent = tracked.filter(isSent);
    const page = /^app\/(dashboard|sdk)\/(?!.*(LICENSE|\.md)$)/;
    expect(tracked.filter((path) => page.test(path) && !isSent(path))).to.deep.equal(['app/sdk/tsconfig.json']);
    const image = join(folder, 'image');
    for (const path of sent) cpSync(join(ROOT, path), join(image, path));
    symlinkSync(join(ROOT, 'node_modules'), join(image, 'node_modules'));
    for (const [, path] of readFileSync(join(ROOT, 'deploy', 'Dockerfile'), 'utf8').matchAll(
      /node scripts\/run.mjs (\S+) --help/g,
    )) {
      const { status, stderr } = spawnSync(process.execPath, ['scripts/run.mjs', path!, '--help'], { cwd: image });
      expect(status, String(stderr)).to.equal(0);
    }
  });
});

/** If a file is sent to the builder, by BuildKit's rules: the last pattern that matches it or a folder above decides. */
function dockerignore(text: string): (path: string) => boolean {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const rules = lines.map((line) => {
    const parts = line.replace(/^!/, '').split(/(\*\*\/|\*\*|\*)/);
    const kinds: Record<string, string> = { '**/': '(.*/)?', '**': '.*', '*': '[^/]*' };
    const pattern = parts.map((part) => kinds[part] ?? part.replace(/[.+?^$()[\]{}|\\]/g, '\\$&')).join('');
    return { isSent: line.startsWith('!'), pattern: new RegExp(`^${pattern}(/.*)?$`) };
  });
  return (path) => rules.findLast(({ pattern }) => pattern.test(path))?.isSent ?? true;
}
