/** Files of editors that begin with a byte order mark, and keys in the place of paths. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readListingFile } from '../../app/cli/listingFile.ts';
import { readKeypair } from '../../app/relay/config.ts';
import { loadCallKeys } from '../../app/relay/outbound/callKeys.ts';
import { generateSigningKey, loadSigningKey } from '../../app/sdk/creator/signingKey.ts';
import { encodeSigningKey } from '../../app/sdk/receipt/signingKeyFile.ts';
import { useFolder } from '../harness/folder.ts';

const wide = (text: string) => Buffer.from(`\uFEFF${text.replaceAll('\n', '\r\n')}`, 'utf16le');
const ENCODINGS: Record<string, (text: string) => Buffer> = {
  'begin with a byte order mark': (text) => Buffer.from(`\uFEFF${text}`),
  'be in UTF-16, as PowerShell writes what a command prints': wide,
  'be in UTF-16 with the bytes swapped': (text) => wide(text).swap16(),
};

describe('files on disk', () => {
  const folder = useFolder('files');
  const write = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  for (const [what, encode] of Object.entries(ENCODINGS)) {
    it(`may ${what}`, () => {
      const key = generateSigningKey();
      const keyFile = write('key.json', encode(encodeSigningKey(key)));
      expect(loadSigningKey(keyFile)).to.deep.equal(key);
      expect(readKeypair(keyFile).secretKey).to.deep.equal(key);
      const example = readFileSync('app/cli/templates/both/agent.json', 'utf8');
      const template = example.replace('"name": "', '"name": "Žluťoučký ');
      const [plain, encoded] = [write('plain.json', template), write('encoded.json', encode(template))];
      expect(readListingFile(encoded)).to.deep.equal(readListingFile(plain));
    });
  }

  it('are not quoted in an error', () => {
    for (const text of ['SECRET', '["SECRET"]', '{"keys": "SECRET"}', '{"keys": [{"d": "SECRET"}]}', '[1, SECRET']) {
      const file = write('secret.json', text);
      for (const read of [loadSigningKey, readKeypair, loadCallKeys]) {
        expect(() => read(file), `${read.name} of ${text}`)
          .to.throw(Error, /^\S+secret\.json is not a/)
          .with.property('message')
          .not.include('SECRET');
      }
    }
  });

  it('are not looked for under the name of a secret key, which no error shows', () => {
    for (const key of ['[1, 2, 3]', '5'.repeat(88), 'a0'.repeat(32), join(folder, '[17,4,200]')]) {
      for (const read of [loadSigningKey, readKeypair]) {
        expect(() => read(key), key).to.throw('the path of a key file is needed, not the key itself');
      }
    }
    expect(() => loadSigningKey(join(folder, 'none.json'))).to.throw('ENOENT');
  });
});
