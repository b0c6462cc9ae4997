/**
 * Calls to creators are signed, and a creator's server refuses every other: each part changed, each wrong key, each
 * wrong time.
 */
import { generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { httpbis } from 'http-message-signatures';
import {
  callKeyId,
  KEY_DIRECTORY_PATH,
  type PublicJwk,
  signCall,
  verifyCall,
} from '../../app/sdk/creator/callSignature.ts';
import {
  createCreatorServer,
  createExecutionHandler,
  generateSigningKey,
  signingKeyAddress,
} from '../../app/sdk/creator/creator.ts';
import { serving, stopServers } from './creatorServer.ts';

interface Key {
  privateKey: KeyObject;
  keyId: string;
  jwk: PublicJwk;
}

function newKey(): Key {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' }) as PublicJwk;
  return { privateKey, jwk, keyId: callKeyId(jwk) };
}

/** The creators' key for results. */
const RESULTS = generateSigningKey();
const KEY = signingKeyAddress(RESULTS);
const MARKS = { purpose: 'execution' as const, signingKey: KEY };
const ID = '00000000-0000-8000-8000-000000000001';

function bodyOf(executionId = ID): Buffer {
  const fields = { task: 'hello', parameters: {}, user_pubkey: '11111111111111111111111111111111', timeout_seconds: 5 };
  return Buffer.from(JSON.stringify({ execution_id: executionId, ...fields }));
}

describe('signed calls', () => {
  const signer = newKey();
  const stranger = newKey();
  after(stopServers);

  it('use the RFC 7638 thumbprint as the id of a key', () => {
    // The key and the thumbprint of RFC 8037, appendix A.3.
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    expect(callKeyId({ kty: 'OKP', crv: 'Ed25519', x })).to.equal('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  });

  it('cover method, authority, path, content type and body, for a minute, with their purpose', async () => {
    const before = Math.floor(Date.now() / 1000);
    const headers = await signCall(signer, {
      url: 'https://a.example:8443/x/execute',
      body: bodyOf(),
      ...MARKS,
    });
    const after = Math.floor(Date.now() / 1000);
    const input = headers['Signature-Input']!;
    const covered = '"@method" "@authority" "@path" "content-type" "content-digest"';
    expect(input.startsWith(`sig1=(${covered} "marketplace-signing-key" "marketplace-purpose");`)).to.equal(true);
    expect(headers).to.include({ 'marketplace-signing-key': KEY, 'marketplace-purpose': 'execution' });
    expect(input).to.include('alg="ed25519"').and.include('tag="agent-marketplace-call"');
    expect(input).to.include(`keyid="${signer.keyId}"`);
    const [created, expires] = [/created=(\d+)/, /expires=(\d+)/].map((part) => Number(part.exec(input)![1]));
    expect(created).to.be.within(before, after);
    expect(expires).to.equal(created! + 60);
    const again = await signCall(signer, { url: 'https://a.example:8443/x/execute', body: bodyOf(), ...MARKS });
    const nonces = [headers, again].map((sent) => /nonce="([^"]+)"/.exec(sent['Signature-Input']!)![1]!);
    expect(new Set(nonces).size).to.equal(2);
    for (const nonce of nonces) expect(Buffer.from(nonce, 'base64url')).to.have.length(16);
    const received = { method: 'POST', authority: 'a.example:8443', path: '/x/execute', headers, body: bodyOf() };
    const findKey = async (id: string) => (id === signer.keyId ? signer.privateKey : null);
    expect(await verifyCall(received, findKey)).to.equal(true);
    expect(await verifyCall({ ...received, authority: 'b.example' }, findKey)).to.equal(false);
  });

  describe("a creator's server", () => {
    let url: string;
    let worked: string[];

    before(async () => {
      worked = [];
      const creator = createCreatorServer({
        signingKey: RESULTS,
        verify: { keys: [signer.jwk] },
        execute: ({ task, executionId }) => {
          worked.push(executionId);
          return { result: task };
        },
      });
      url = `${await serving(creator)}/execute`;
    });
    beforeEach(() => {
      worked.length = 0;
    });

    async function post(headers: Record<string, string>, body: Buffer = bodyOf(), to = url) {
      const response = await fetch(to, { method: 'POST', headers, body });
      return { status: response.status, body: JSON.parse(await response.text()) };
    }
    const sign = (key = signer, body = bodyOf(), to = url) => signCall(key, { url: to, body, ...MARKS });

    it('answers a replay within the minute with the same bytes and without work', async () => {
      const id = ID.replace(/1$/, '2');
      const headers = await sign(signer, bodyOf(id));
      const first = await post(headers, bodyOf(id));
      expect(await post(headers, bodyOf(id))).to.deep.equal(first);
      expect(worked).to.deep.equal([id]);
    });

    const all = [
      ...['@method', '@authority', '@path', 'content-type', 'content-digest'],
      ...['marketplace-signing-key', 'marketplace-purpose'],
    ];

    /** A signature made by hand, for cases that `signCall` never produces. */
    async function handmade(changes: { tag?: string; fields?: string[]; created?: Date; params?: string[] }) {
      const { created = new Date() } = changes;
      const expires = new Date(created.getTime() + 60_000);
      const { headers } = await httpbis.signMessage(
        {
          key: {
            id: signer.keyId,
            alg: 'ed25519',
            sign: async (bytes) => signBytes(null, bytes, signer.privateKey),
          },
          fields: changes.fields ?? all,
          params: changes.params ?? ['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'],
          paramValues: { created, expires, nonce: ID, tag: changes.tag ?? 'agent-marketplace-call' },
        },
        {
          method: 'POST',
          url,
          headers: {
            'content-type': 'application/json',
            'content-digest': (await sign())['content-digest']!,
            'marketplace-signing-key': KEY,
            'marketplace-purpose': 'execution',
          },
        },
      );
      return headers as Record<string, string>;
    }

    it('accepts a correct signature made by hand', async () => {
      expect((await post(await handmade({}))).status).to.equal(200);
    });

    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const other = bodyOf(ID.replace(/1$/, '3'));
    const without = (param: string) =>
      handmade({ params: ['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'].filter((name) => name !== param) });
    /** The headers of a correct call with some replaced. */
    const replacing = async (headers: Record<string, string>) => ({ ...(await sign()), ...headers });
    const withOneBitChanged = async () => {
      const [, text] = /:(.*):/.exec((await sign()).Signature!)!;
      const bytes = Buffer.from(text!, 'base64');
      bytes[3]! ^= 1;
      return replacing({ Signature: `sig1=:${bytes.toString('base64')}:` });
    };
    const refused: [string, () => Promise<Record<string, string>>, Buffer?][] = [
      ['no signature', async () => ({ 'content-type': 'application/json' })],
      ['the signature of another key', () => sign(stranger)],
      ["another key under the marketplace's name", () => sign({ ...stranger, keyId: signer.keyId })],
      ['a signature with one bit changed', withOneBitChanged],
      ['another body', () => sign(), other],
      [
        'another body with a digest of its own',
        async () => replacing({ 'content-digest': (await sign(signer, other))['content-digest']! }),
        other,
      ],
      ['the call to another host', () => sign(signer, bodyOf(), 'https://b.example/execute')],
      ['the call to another path', () => sign(signer, bodyOf(), url.replace('/execute', '/b/execute'))],
      ['another content type', () => replacing({ 'content-type': 'application/json; charset=utf-8' })],
      ['another signing key', () => replacing({ 'marketplace-signing-key': signingKeyAddress(generateSigningKey()) })],
      ['another purpose', () => replacing({ 'marketplace-purpose': 'test' })],
      ['a signature for something else', () => handmade({ tag: 'web-bot-auth' })],
      ['an old signature', () => handmade({ created: minutesAgo(2.1) })],
      ['a signature of the future', () => handmade({ created: minutesAgo(-3) })],
      ['one without an expiry', () => without('expires')],
      ['one without a time', () => without('created')],
      ...all.map((left): (typeof refused)[number] => [
        `one that leaves ${left} out`,
        () => handmade({ fields: all.filter((field) => field !== left) }),
      ]),
      ['half of the headers', () => replacing({ 'Signature-Input': '' })],
      ['headers that are no structured fields', () => replacing({ 'Signature-Input': 'sig1=(' })],
    ];
    for (const [what, make, body] of refused) {
      it(`rejects: ${what}`, async () => {
        expect(await post(await make(), body)).to.deep.equal({
          status: 401,
          body: { error: { code: 'unauthorized', message: 'the call has no valid signature of the marketplace' } },
        });
        expect(worked).to.deep.equal([]);
      });
    }

    it('accepts clocks that differ by less than a minute', async () => {
      expect((await post(await handmade({ created: minutesAgo(1.5) }))).status).to.equal(200);
      expect((await post(await handmade({ created: minutesAgo(-0.9) }))).status).to.equal(200);
    });

    it('checks the listed authority behind a proxy that rewrites Host', async () => {
      const verify = { keys: [signer.jwk], authority: 'agents.example.com' };
      const hidden = createServer(
        createExecutionHandler({ signingKey: RESULTS, verify, execute: ({ task }) => ({ result: task }) }),
      );
      const inside = `${await serving(hidden)}/execute`;
      const headers = await sign(signer, bodyOf(), 'https://agents.example.com/execute');
      expect((await post(headers, bodyOf(), inside)).status).to.equal(200);
      expect((await post(await sign(signer, bodyOf(), inside), bodyOf(), inside)).status).to.equal(401);
    });

    it('reports a body that was parsed before the verification', async () => {
      const handler = createExecutionHandler({
        signingKey: RESULTS,
        verify: { keys: [signer.jwk] },
        execute: ({ task }) => ({ result: task }),
      });
      const parsing = createServer((request, response) => {
        Object.assign(request, { body: JSON.parse(bodyOf().toString()) });
        handler(request, response);
      });
      const answer = await post(await sign(), bodyOf(), `${await serving(parsing)}/execute`);
      expect(answer.status).to.equal(500);
      expect(answer.body.error.code).to.equal('misconfigured');
    });
  });

  describe('the key directory', () => {
    let url: string;
    let reads: number;
    let served: { status: number; body: string };

    beforeEach(async () => {
      reads = 0;
      served = { status: 200, body: JSON.stringify({ keys: [signer.jwk] }) };
      const directory = createServer((request, response) => {
        if (request.url === KEY_DIRECTORY_PATH) reads += 1;
        response.writeHead(served.status, { 'content-type': 'application/json' }).end(served.body);
      });
      const directoryUrl = `${await serving(directory)}${KEY_DIRECTORY_PATH}`;
      const creator = createCreatorServer({
        signingKey: RESULTS,
        verify: { directoryUrl },
        execute: ({ task }) => ({ result: task }),
      });
      url = `${await serving(creator)}/execute`;
    });

    async function call(key: Key): Promise<number> {
      const headers = await signCall(key, { url, body: bodyOf(), ...MARKS });
      return (await fetch(url, { method: 'POST', headers, body: bodyOf() })).status;
    }

    it('is read once for many calls', async () => {
      expect(await Promise.all([call(signer), call(signer), call(signer)])).to.deep.equal([200, 200, 200]);
      expect(await call(signer)).to.equal(200);
      expect(reads).to.equal(1);
    });

    it('is not read again for every call with an unknown key', async () => {
      const started = performance.now();
      expect(await call(stranger)).to.equal(401);
      expect(await call(stranger)).to.equal(401);
      // Every 5 s one unknown key may cause a read.
      expect(reads).to.be.within(1, 1 + Math.floor((performance.now() - started) / 5_000));
    });

    it('refuses a key that is not valid yet, or has expired', async () => {
      const now = Math.floor(Date.now() / 1000);
      served.body = JSON.stringify({
        keys: [
          { ...signer.jwk, exp: now - 1 },
          { ...stranger.jwk, nbf: now + 60 },
        ],
      });
      expect(await call(signer)).to.equal(401);
      expect(await call(stranger)).to.equal(401);
    });

    it('accepts several valid keys at once, and skips keys of other types than Ed25519', async () => {
      served.body = JSON.stringify({ keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }, stranger.jwk, signer.jwk] });
      expect([await call(signer), await call(stranger)]).to.deep.equal([200, 200]);
    });

    const unreadable: [string, { status: number; body: string }][] = [
      ['cannot be reached', { status: 500, body: '' }],
      ['is no JSON', { status: 200, body: 'hello' }],
      ['is no directory', { status: 200, body: '{}' }],
      ['is too large', { status: 200, body: JSON.stringify({ keys: [], more: 'x'.repeat(70_000) }) }],
    ];
    for (const [what, answer] of unreadable) {
      it(`makes the server return 503, and the marketplace retry, when it ${what}`, async () => {
        served = answer;
        expect(await call(signer)).to.equal(503);
      });
    }

    it('makes the server return 503 for a key that it did not know, and 200 for its last keys, when it fails', async () => {
      expect(await call(signer)).to.equal(200);
      served = { status: 500, body: '' };
      let answer = 0;
      // It is read again at the first unknown key after five seconds.
      while (reads === 1) answer = await call(stranger);
      expect([answer, await call(stranger), await call(signer)]).to.deep.equal([503, 503, 200]);
    });
  });
});
