/** `creator new` and `creator test` of a server on this computer. The templates themselves run in templates.ts. */
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { KEY_DIRECTORY_PATH } from '../../app/sdk/creator/callSignature.ts';
import { createCreatorServer, generateSigningKey, signingKeyAddress } from '../../app/sdk/creator/creator.ts';
import { CONFORMANCE_NAMES } from '../../app/sdk/wire/conformance.ts';
import { listen, useServers } from '../harness/edge/listen.ts';
import { cleanUp, newDirectory } from '../local/start.ts';
import { runHere, testUndisturbed } from './run.ts';

describe('the command line of a creator', () => {
  const serve = useServers();
  after(() => cleanUp());

  /** Runs `creator test` against a server of the kit, which trusts the keys at this port. */
  async function test(trustedPort: number, ...words: string[]) {
    const signingKey = generateSigningKey();
    const server = createCreatorServer({
      signingKey,
      execute: ({ task }) => ({ result: task }),
      verify: { directoryUrl: `http://127.0.0.1:${trustedPort}${KEY_DIRECTORY_PATH}` },
    });
    try {
      const url = `${await listen(server)}/execute`;
      const run = await testUndisturbed(() => runHere(['creator', 'test', url, ...words]));
      return { ...run, address: signingKeyAddress(signingKey) };
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  it('tests a server that trusts this command, with the key that its /health names', async () => {
    const { code, stdout, stderr } = await test(18_788, '--keys-port', '18788', '--json');
    expect(code, stderr).to.equal(0);
    const { ok, passed, failed, checks } = JSON.parse(stdout);
    const names = CONFORMANCE_NAMES.filter((name) => name !== 'metadata');
    expect({ ok, passed, failed }).to.deep.equal({ ok: true, passed: names.length, failed: [] });
    expect(checks.map((check: { name: string }) => check.name)).to.deep.equal(names);
  });

  it('reports what was sent, received and expected, and exits 1, if a check fails', async () => {
    const other = signingKeyAddress(generateSigningKey());
    const { code, stdout, stderr } = await test(18_788, '--keys-port', '18788', '--signing-key', other);
    expect([code, stdout]).to.deep.equal([1, 'ok: false\npassed: 4\nfailed: status\n']);
    expect(stderr)
      .to.contain(`failed status: the agent reported a failure: this server does not have the signing key ${other}`)
      .and.contain('expected: "completed", with a result')
      .and.match(/sent:\n +POST http:.*\n[\s\S]*marketplace-signing-key/)
      .and.match(/received:\n +HTTP 200\n[\s\S]*"status":"failed"/)
      .and.contain('1 of 5 checks failed. A paid call would be refunded.');
  });

  it('explains how to make a server trust the command, if the server refuses its signature', async () => {
    const keys = createServer((_, response) => void response.end('{"keys": []}')).listen(18_789, '127.0.0.1');
    await once(keys, 'listening');
    const { code, stderr } = await test(18_789, '--keys-port', '18788');
    keys.close();
    keys.closeAllConnections();
    expect(code).to.equal(1);
    expect(stderr).to.contain(
      'The server does not trust the key of this command. Start it with http://127.0.0.1:18788 as its marketplace URL',
    );
  });

  it('refuses a server without a known signing key, and a test by the marketplace without a description', async () => {
    const url = 'http://127.0.0.1:1/execute';
    const key = ['--signing-key', signingKeyAddress(generateSigningKey())];
    const { code, stderr } = await runHere(['creator', 'test', url, ...key, '--through-marketplace']);
    expect([code, stderr]).to.deep.equal([
      1,
      '--through-marketplace needs --listing FILE, because the marketplace tests a listing.\n',
    ]);
    const health = await serve((_, response) => void response.end('OK'));
    const unnamed = await runHere(['creator', 'test', `${health}/execute`]);
    expect(unnamed.code).to.equal(1);
    expect(unnamed.stderr).to.contain('/health names no signing key. Give --signing-key PATH or ADDRESS');
  });

  for (const lang of ['ts', 'python']) {
    it(`makes a ${lang} folder with its own key and no placeholder left`, async () => {
      const folder = join(newDirectory(), 'My Agent');
      const { code, stdout, stderr } = await runHere(['creator', 'new', folder, '--lang', lang, '--json']);
      expect(code, stderr).to.equal(0);
      const made = JSON.parse(stdout);
      expect(made.agent).to.equal('my-agent');
      expect(JSON.parse(readFileSync(join(folder, 'agent.json'), 'utf8')).name).to.equal('my-agent');
      expect(statSync(join(folder, 'signing-key.json')).mode & 0o777).to.equal(0o600);
      for (const file of readdirSync(folder)) {
        expect(readFileSync(join(folder, file), 'utf8'), file).to.not.match(/AGENT_NAME|SDK_VERSION/);
      }
      expect(readFileSync(join(folder, '.gitignore'), 'utf8')).to.contain('signing-key.json');
    });
  }

  it('does not write into a folder that has files', async () => {
    const folder = newDirectory();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'mine'), 'x');
    const { code, stderr } = await runHere(['creator', 'new', folder]);
    expect(code).to.equal(1);
    expect(stderr).to.contain('has files already. Choose a new or an empty folder.');
    expect(readdirSync(folder)).to.deep.equal(['mine']);
  });
});
