/**
 * examples/vectors.json, which people compare their code with. Each value is computed again from the specification, by
 * Node and tweetnacl alone, and then by the SDK. All three must be equal.
 */
import { createHash, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'chai';
import nacl from 'tweetnacl';
import { callKeyId, type PublicJwk, readPublicJwk, signCall } from '../../app/sdk/creator/callSignature.ts';
import { parseExecutionRequest } from '../../app/sdk/creator/creator.ts';
import { verifyAnswer } from '../../app/sdk/creator/judge.ts';
import { depositAddress, findListing, PROGRAM_ID, registerMessage } from '../../app/sdk/program/program.ts';
import {
  createNonce,
  deriveExecutionId,
  executionMessage,
  formatUuid,
  hashResult,
  requestHash,
  signMessage,
  signResult,
  startMessage,
} from '../../app/sdk/receipt/receipt.ts';
import vectors from '../../examples/vectors.json' with { type: 'json' };

const { keys, results, requests, possession, execution, start, call, answers } = vectors;
const sha256 = (...parts: (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const pairOf = ({ seed_hex }: { seed_hex: string }) => nacl.sign.keyPair.fromSeed(Buffer.from(seed_hex, 'hex'));
const creator = pairOf(keys.creator);
const caller = pairOf(keys.caller);
const marketplace = pairOf(keys.marketplace);

function signed(message: string, pair: nacl.SignKeyPair): string {
  return `ed25519:${bs58.encode(nacl.sign.detached(Buffer.from(message, 'utf8'), pair.secretKey))}`;
}

/** RFC 8785: names in the order of their UTF-16 units, no spaces, numbers and strings as in JavaScript. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join()}}`;
}

/** RFC 9421, 2.5: a line for each covered component, then the parameters. */
function signatureBase(url: string, headers: Record<string, string>): string {
  const { host, pathname } = new URL(url);
  const parameters = headers['signature-input']!.replace(/^sig1=/, '');
  const covered = /^\(([^)]*)\)/
    .exec(parameters)![1]!
    .split(' ')
    .map((name) => name.slice(1, -1));
  const own: Record<string, string> = { '@method': 'POST', '@authority': host, '@path': pathname };
  const lines = covered.map((name) => `"${name}": ${own[name] ?? headers[name]}`);
  return [...lines, `"@signature-params": ${parameters}`].join('\n');
}

describe('examples/vectors.json', () => {
  it('match for the keys', () => {
    expect(bs58.encode(creator.publicKey)).to.equal(keys.creator.public_key);
    expect(bs58.encode(caller.publicKey)).to.equal(keys.caller.public_key);
    const { jwk, keyid } = keys.marketplace;
    expect(Buffer.from(marketplace.publicKey).toString('base64url')).to.equal(jwk.x);
    const thumbprint = sha256(`{"crv":"Ed25519","kty":"OKP","x":"${jwk.x}"}`).toString('base64url');
    expect([thumbprint, callKeyId(jwk as PublicJwk)]).to.deep.equal([keyid, keyid]);
  });

  for (const { result, utf8_hex, result_hash, signature } of results.vectors) {
    it(`match for the result ${JSON.stringify(result)}`, () => {
      const bytes = Buffer.from(utf8_hex, 'hex');
      expect(bytes.toString('utf8')).to.equal(result);
      expect(`sha256:${sha256(bytes).toString('hex')}`).to.equal(result_hash);
      expect(signed(result_hash, creator)).to.equal(signature);
      expect([hashResult(result), signResult(creator.secretKey, result_hash)]).to.deep.equal([result_hash, signature]);
    });
  }

  for (const { task, parameters, canonical_json, request_hash } of requests.vectors) {
    it(`match for the request ${JSON.stringify(task)}`, () => {
      expect(canonical({ task, parameters })).to.equal(canonical_json);
      expect(sha256(canonical_json).toString('hex')).to.equal(request_hash);
      expect(Buffer.from(requestHash(task, parameters)).toString('hex')).to.equal(request_hash);
    });
  }

  it('match for the proof of possession', () => {
    const { domain, wallet, listing_id_hex, listing, message_hex, signature_hex } = possession;
    const [owner, listingId] = [new PublicKey(wallet), Buffer.from(listing_id_hex, 'hex')];
    const seeds = [Buffer.from('listing'), owner.toBytes(), listingId];
    const [found] = PublicKey.findProgramAddressSync(seeds, new PublicKey(execution.program_id));
    expect(found.toBase58()).to.equal(listing);
    expect(Buffer.concat([Buffer.from(domain), found.toBytes()]).toString('hex')).to.equal(message_hex);
    const message = Buffer.from(message_hex, 'hex');
    expect(Buffer.from(nacl.sign.detached(message, creator.secretKey)).toString('hex')).to.equal(signature_hex);
    expect(Buffer.from(registerMessage(found)).toString('hex')).to.equal(message_hex);
    if (execution.program_id === PROGRAM_ID.toBase58()) expect(findListing(owner, listingId)).to.deep.equal(found);
  });

  it('match for the execution id', () => {
    const wallet = bs58.decode(execution.caller);
    const nonce = Buffer.from(execution.nonce_hex, 'hex');
    expect([nonce.readUInt32LE(0), nonce.toString('hex', 4)]).to.deep.equal([execution.half_hour, execution.tail_hex]);
    expect(execution.half_hour).to.equal(Math.floor(call.created / 1_800));
    expect(Buffer.from(createNonce(execution.half_hour, Buffer.from(execution.tail_hex, 'hex')))).to.deep.equal(nonce);
    const id = sha256(execution.domain, wallet, nonce).subarray(0, 16);
    id[6] = (id[6]! & 0x0f) | 0x80;
    id[8] = (id[8]! & 0x3f) | 0x80;
    expect(id.toString('hex')).to.equal(execution.execution_id.replaceAll('-', ''));
    expect(formatUuid(deriveExecutionId(wallet, nonce))).to.equal(execution.execution_id);
    const seeds = [Buffer.from('execution'), id];
    const [record] = PublicKey.findProgramAddressSync(seeds, new PublicKey(execution.program_id));
    expect(record.toBase58()).to.equal(execution.record);
  });

  it('match for the deposits', () => {
    const { deposit: given } = vectors;
    const { listing, listing_version, request_hash, timeout_seconds, nonce_hex, price, service_fee } = given;
    const number = (value: number, bytes: 4 | 8) => {
      const encoded = Buffer.alloc(bytes);
      encoded.writeUIntLE(value, 0, 4);
      return encoded;
    };
    const [requestHash, nonce] = [Buffer.from(request_hash, 'hex'), Buffer.from(nonce_hex, 'hex')];
    const version = number(listing_version, 4);
    const timeout = number(timeout_seconds, 4);
    const terms = sha256(given.terms_domain, bs58.decode(listing), version, requestHash, timeout, nonce);
    expect(terms.toString('hex')).to.equal(given.terms_hash);
    for (const { payer, ...expected } of given.vectors) {
      const wallet = payer === null ? Buffer.alloc(32) : bs58.decode(payer);
      const hash = sha256(given.deposit_domain, terms, wallet, number(price, 8), number(service_fee, 8));
      expect(hash.toString('hex')).to.equal(expected.hash);
      const seeds = [Buffer.from('deposit'), hash];
      const [address] = PublicKey.findProgramAddressSync(seeds, new PublicKey(given.program_id));
      expect(address.toBase58()).to.equal(expected.deposit);
      const named = { listing: new PublicKey(listing), listingVersion: listing_version, requestHash, nonce };
      const quote = {
        payer: payer === null ? null : new PublicKey(payer),
        price: BigInt(price),
        serviceFee: BigInt(service_fee),
        usdcMint: new PublicKey(listing),
      };
      for (const given of [{ ...named, timeoutSeconds: timeout_seconds }, Uint8Array.from(terms)]) {
        const own = depositAddress({ ...quote, terms: given });
        expect(own.address).to.deep.equal(address);
        expect(Buffer.from(own.hash)).to.deep.equal(hash);
      }
    }
  });

  it('match for the start message', () => {
    expect(`agent-marketplace:start:v1:${execution.record}:${start.request_hash}`).to.equal(start.message);
    expect(startMessage(execution.record, start.request_hash)).to.equal(start.message);
    expect(signed(start.message, caller)).to.equal(start.wallet_signature);
    expect(signMessage(caller.secretKey, start.message)).to.equal(start.wallet_signature);
  });

  it('match for the execution signature', () => {
    const { request_hash, result_hash, message, signature } = vectors.execution_signature;
    const { program_id, execution_id } = execution;
    expect(['agent-marketplace:v1', program_id, execution_id, request_hash, result_hash].join(':')).to.equal(message);
    expect(executionMessage(program_id, execution_id, request_hash, result_hash)).to.equal(message);
    expect(signed(message, creator)).to.equal(signature);
  });

  it('match for the signed call', async () => {
    const { headers, body, url, signature_base } = call;
    expect(`sha-256=:${sha256(body).toString('base64')}:`).to.equal(headers['content-digest']);
    expect(signatureBase(url, headers)).to.equal(signature_base);
    const signature = Buffer.from(/^sig1=:(.*):$/.exec(headers.signature)![1]!, 'base64');
    expect(nacl.sign.detached.verify(Buffer.from(signature_base), signature, marketplace.publicKey)).to.equal(true);
    expect(headers['signature-input']).to.include(`;created=${call.created};expires=${call.created + 60};`);
    const parsed = parseExecutionRequest(JSON.parse(body), headers);
    const { execution_id } = execution;
    expect(parsed).to.include({ executionId: execution_id, signingKey: keys.creator.public_key, purpose: 'execution' });
  });

  it('have the form of a call that is signed now', async () => {
    const { jwk, keyid, seed_hex } = keys.marketplace;
    const d = Buffer.from(seed_hex, 'hex').toString('base64url');
    const privateKey = createPrivateKey({ key: { ...jwk, d }, format: 'jwk' });
    const { url, body } = call;
    const sent = await signCall(
      { keyId: keyid, privateKey },
      { url, body: Buffer.from(body), purpose: 'execution', signingKey: keys.creator.public_key },
    );
    const headers = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name.toLowerCase(), value]));
    const form = (base: string) => base.replaceAll(/(created|expires)=\d+|nonce="[^"]*"/g, '$1');
    const base = signatureBase(url, headers);
    expect(form(base)).to.equal(form(call.signature_base));
    const signature = Buffer.from(/^sig1=:(.*):$/.exec(headers.signature!)![1]!, 'base64');
    expect(nacl.sign.detached.verify(Buffer.from(base), signature, marketplace.publicKey)).to.equal(true);
    expect(readPublicJwk(jwk as PublicJwk).asymmetricKeyType).to.equal('ed25519');
  });

  it('match for the answers', () => {
    const expected = {
      executionId: execution.execution_id,
      signingKey: creator.publicKey,
      requestHash: vectors.execution_signature.request_hash,
      programId: PROGRAM_ID.toBase58(),
    };
    expect(verifyAnswer(answers.failed, expected)).to.deep.equal({ kind: 'failed', message: 'no such city' });
    const verdict = verifyAnswer(answers.completed, expected);
    expect(verdict).to.include({ kind: 'completed', tokensUsed: 7, steps: '[]' });
    expect(verdict).to.deep.include({ result: Buffer.from(answers.completed.result, 'utf8') });
    // The signature that names the execution counts only for the expected program.
    const isOurs = execution.program_id === PROGRAM_ID.toBase58();
    expect(verdict).to.include({ executionSignature: isOurs ? answers.completed.execution_signature : null });
  });

  it('are the ones that docs/creators.md shows, byte for byte', () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'creators.md'), 'utf8');
    const headers = Object.entries(call.headers).map(([name, value]) => `${name}: ${value}`);
    const { pathname, host } = new URL(call.url);
    const length = `content-length: ${Buffer.byteLength(call.body)}`;
    const shown = [`POST ${pathname} HTTP/1.1`, `host: ${host}`, ...headers, length, '', call.body].join('\n');
    expect(page.replace('accept: application/json\naccept-encoding: identity\n', '')).to.include(shown);
    for (const text of [call.signature_base, vectors.execution_signature.message]) expect(page).to.include(text);
    const blocks = [...page.matchAll(/^```text\n(\{.*\})\n```$/gm)].map(([, json]) => JSON.parse(json!));
    expect(blocks).to.deep.equal([answers.completed, answers.failed]);
  });
});
