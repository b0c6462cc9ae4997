/** Texts that a wallet signs within Solana's off-chain envelope, compared with @solana/kit's own encoder. */
import {
  address,
  getOffchainMessageEncoder,
  offchainMessageApplicationDomain,
  offchainMessageContentUtf8Of1232BytesMax,
} from '@solana/kit';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import nacl from 'tweetnacl';
import { textOf, verifySignedText } from '../../app/sdk/receipt/offchain.ts';
import { formatSignature } from '../../app/sdk/receipt/receipt.ts';

const wallet = Keypair.generate();
const other = Keypair.generate();
const TEXT = 'marketplace.example wants you to sign in with your Solana account:\nä';
const NO_DOMAIN = '11111111111111111111111111111111';

const sign = (bytes: Uint8Array) => formatSignature(nacl.sign.detached(bytes, wallet.secretKey));
const isSigned = (bytes: Uint8Array, text = TEXT, signed: Uint8Array | null = null) =>
  verifySignedText(wallet.publicKey.toBytes(), text, sign(bytes), signed);

/** The standard's envelope. */
const standard = (domain = NO_DOMAIN, signers = [wallet], text = TEXT) =>
  Uint8Array.from(
    getOffchainMessageEncoder().encode({
      version: 0,
      applicationDomain: offchainMessageApplicationDomain(domain),
      content: offchainMessageContentUtf8Of1232BytesMax(text),
      requiredSignatories: signers.map(({ publicKey }) => ({ address: address(publicKey.toBase58()) })),
    }),
  );

/** Version 1, without an application, a format and a length. */
const second = (signers = [wallet], text = TEXT) =>
  Uint8Array.from(
    getOffchainMessageEncoder().encode({
      version: 1,
      content: text,
      requiredSignatories: signers.map(({ publicKey }) => ({ address: address(publicKey.toBase58()) })),
    }),
  );

/** The first form, of Ledger's libraries: version, format and length before the text. */
function first(format: number, text = TEXT, version = 0): Uint8Array {
  const content = Buffer.from(text);
  const head = Buffer.from([
    0xff,
    ...Buffer.from('solana offchain'),
    version,
    format,
    content.length & 0xff,
    content.length >> 8,
  ]);
  return Uint8Array.from(Buffer.concat([head, content]));
}

describe('sdk/offchain', () => {
  it('accepts the plain text, and version 0 of both envelopes in every format', () => {
    expect(isSigned(Buffer.from(TEXT))).to.equal(true);
    expect(isSigned(standard())).to.equal(true);
    for (const format of [0, 1, 2]) expect(isSigned(first(format)), String(format)).to.equal(true);
  });

  it('accepts an envelope that names an application, or several signers, if its bytes are given', () => {
    const domain = other.publicKey.toBase58();
    expect(isSigned(standard(domain))).to.equal(false);
    expect(isSigned(standard(domain), TEXT, standard(domain))).to.equal(true);
    const both = standard(domain, [other, wallet]);
    expect(isSigned(both, TEXT, both)).to.equal(true);
    expect(textOf(both, wallet.publicKey.toBytes())).to.equal(TEXT);
  });

  it('accepts version 1, with further signers if its bytes are given', () => {
    expect(isSigned(second())).to.equal(true);
    const both = second([other, wallet]);
    expect(isSigned(both)).to.equal(false);
    expect(isSigned(both, TEXT, both)).to.equal(true);
    const foreign = second([other]);
    expect(isSigned(foreign, TEXT, foreign)).to.equal(false);
    expect(isSigned(second(), 'another', second())).to.equal(false);
    for (const length of [17, 18, 49, 50, 60]) {
      const cut = second().subarray(0, length);
      expect(isSigned(cut, TEXT, cut), String(length)).to.equal(false);
    }
  });

  it('refuses another text, another version, another signer and bytes that were not signed', () => {
    expect(isSigned(first(1), 'another')).to.equal(false);
    for (const version of [1, 2]) expect(isSigned(first(1, TEXT, version)), String(version)).to.equal(false);
    expect(isSigned(standard(NO_DOMAIN, [other]))).to.equal(false);
    const foreign = standard(NO_DOMAIN, [other]);
    expect(isSigned(foreign, TEXT, foreign)).to.equal(false);
    expect(isSigned(standard(), TEXT, first(1))).to.equal(false);
    expect(isSigned(standard(), 'another', standard())).to.equal(false);
    for (const length of [0, 16, 17, 20, 50, 84]) {
      const cut = standard().subarray(0, length);
      expect(isSigned(cut, TEXT, cut), String(length)).to.equal(false);
    }
  });
});
