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

describe('files on disk', () => {
  const folder = useFolder('files');

  it('may begin with a byte order mark', () => {
    const key = generateSigningKey();
    const keyFile = join(folder, 'key.json');
    writeFileSync(keyFile, `\uFEFF${encodeSigningKey(key)}`);
    expect(loadSigningKey(keyFile)).to.deep.equal(key);
    expect(readKeypair(keyFile).secretKey).to.deep.equal(key);
    const template = readFileSync('app/cli/templates/both/agent.json', 'utf8');
    const [plain, marked] = [join(folder, 'plain.json'), join(folder, 'marked.json')];
    writeFileSync(plain, template);
    writeFileSync(marked, `\uFEFF${template}`);
    expect(readListingFile(marked)).to.deep.equal(readListingFile(plain));
  });

  it('may be in UTF-16, as PowerShell writes what a command prints', () => {
    const key = generateSigningKey();
    const keyFile = join(folder, 'wide-key.json');
    const template = readFileSync('app/cli/templates/both/agent.json', 'utf8').replace(
      '"name": "',
      '"name": "Žluťoučký ',
    );
    const [plain, wide] = [join(folder, 'narrow.json'), join(folder, 'wide.json')];
    writeFileSync(plain, template);
    for (const swap of [false, true]) {
      const written = (text: string) => {
        const bytes = Buffer.from(`\uFEFF${text.replaceAll('\n', '\r\n')}`, 'utf16le');
        return swap ? bytes.swap16() : bytes;
      };
      writeFileSync(keyFile, written(encodeSigningKey(key)));
      expect(loadSigningKey(keyFile)).to.deep.equal(key);
      writeFileSync(wide, written(template));
      expect(readListingFile(wide)).to.deep.equal(readListingFile(plain));
    }
  });

  it('are not quoted in an error', () => {
    const file = join(folder, 'secret.json');
    for (const text of ['SECRET', '["SECRET"]', '{"keys": "SECRET"}', '{"keys": [{"d": "SECRET"}]}', '[1, SECRET']) {
      writeFileSync(file, text);
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
