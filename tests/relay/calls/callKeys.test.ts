/** The keys that sign calls to creators: created once, kept private, and rotated without a gap. keys.test.ts has several relays. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadCallKeys, rotateCallKeys } from '../../../app/relay/outbound/callKeys.ts';
import { callKeyId, readPublicJwk, verifyCall } from '../../../app/sdk/creator/callSignature.ts';

describe('keys for calls to creators', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'call-keys-'));
    path = join(folder, 'call-keys.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** The key ids in the directory that match the signature. */
  async function signerOf({ directory, sign }: ReturnType<typeof loadCallKeys>): Promise<string[]> {
    const body = Buffer.from('{}');
    const headers = await sign({ url: 'https://a.example/execute', body, purpose: 'execution', signingKey: 'x' });
    const call = { method: 'POST', authority: 'a.example', path: '/execute', headers, body };
    const signers: string[] = [];
    for (const jwk of directory.keys) {
      const findKey = async (keyId: string) => (keyId === jwk.kid ? readPublicJwk(jwk) : null);
      if (await verifyCall(call, findKey)) signers.push(jwk.kid);
    }
    return signers;
  }

  it('are created on the first start, readable by the owner only, and kept on the next start', async () => {
    // Its folder is DATA_DIR, which a relay on PostgreSQL may find missing.
    path = join(folder, 'data', 'call-keys.json');
    const first = loadCallKeys(path);
    expect(statSync(join(folder, 'data')).mode & 0o777).to.equal(0o700);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(first.directory.keys).to.have.length(1);
    const [key] = first.directory.keys;
    expect(key).to.have.all.keys('kty', 'crv', 'x', 'kid', 'use');
    expect(key!.kid).to.equal(callKeyId(key!));
    expect(loadCallKeys(path).directory).to.deep.equal(first.directory);
    expect(await signerOf(first)).to.deep.equal([key!.kid]);
  });

  it('sign with the new key after a change, list the previous key, and drop older ones', async () => {
    const [oldest] = loadCallKeys(path).directory.keys;
    const second = rotateCallKeys(path);
    const both = loadCallKeys(path);
    expect(both.directory.keys.map(({ kid }) => kid)).to.deep.equal([second, oldest!.kid]);
    expect(await signerOf(both)).to.deep.equal([second]);
    const third = rotateCallKeys(path);
    expect(loadCallKeys(path).directory.keys.map(({ kid }) => kid)).to.deep.equal([third, second]);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
  });

  for (const [what, text] of [
    ['no JSON', 'hello'],
    ['no keys', '{}'],
    ['another kind of key', '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","d":"AA"}]}'],
  ] as const) {
    it(`rejects: a file with ${what}, and names the file`, () => {
      writeFileSync(path, text);
      expect(() => loadCallKeys(path)).to.throw(path);
      expect(readFileSync(path, 'utf8')).to.equal(text);
    });
  }
});
