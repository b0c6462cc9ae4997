/**
 * People who approve later than a transaction is valid. Their wallets are not this page's: they sign outside of the
 * browser, and only after the chain has outlived the transaction. tests/cli/signer.ts has the other signatures.
 */
import type { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import nacl from 'tweetnacl';
import { readKeypair } from '../../app/cli/wallet.ts';
import { outlive } from '../harness/node/node.ts';
import { dialog, progress } from './browser.ts';
import { useSite } from './site.ts';

const PRICE = 10_000n;
const EXPLANATION = 'The approval took longer than the 30 s for which a transaction is valid. Please approve it again.';

/** A wallet of the Wallet Standard. It has bytes signed by the functions that the test exposes to the page. */
const registerWallet = (address: string) => `{
  const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const textOf = (bytes) => btoa(String.fromCharCode(...bytes));
  const chains = ['solana:localnet', 'solana:devnet', 'solana:mainnet'];
  const features = {
    'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [account] }) },
    'solana:signMessage': { version: '1.1.0', signMessage: async ({ message }) =>
      [{ signedMessage: message, signature: bytesOf(await approveMessage(textOf(message))) }] },
    'solana:signTransaction': { version: '1.0.0', supportedTransactionVersions: ['legacy', 0],
      signTransaction: async ({ transaction }) =>
        [{ signedTransaction: bytesOf(await approveTransaction(textOf(transaction))) }] },
  };
  const account = { address: '${address}', publicKey: new Uint8Array(32), chains, features: Object.keys(features) };
  const wallet = { version: '1.0.0', name: 'Slow wallet', icon: 'data:image/svg+xml;base64,', chains, features,
    accounts: [account] };
  addEventListener('wallet-standard:app-ready', ({ detail }) => detail.register(wallet));
  dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: ({ register }) => register(wallet) }));
}`;

describe('a person who approves later than a transaction is valid', function () {
  this.timeout(600_000);
  const site = useSite();

  /** Signs in with a wallet that approves its first transaction too late, and the others once the page says why. */
  async function connectSlow(page: Page, keypair: Keypair) {
    const approved = { transactions: 0 };
    const sign = (bytes: Uint8Array) => nacl.sign.detached(bytes, keypair.secretKey);
    await page.exposeFunction('approveMessage', (text: string) =>
      Buffer.from(sign(Buffer.from(text, 'base64'))).toString('base64'),
    );
    await page.exposeFunction('approveTransaction', async (text: string) => {
      approved.transactions += 1;
      if (approved.transactions === 1) await outlive(site.visitor.demo.rpc_url);
      else await dialog(page).getByText(EXPLANATION).waitFor();
      const bytes = Buffer.from(text, 'base64');
      // One signature, then the signed message.
      bytes.set(sign(bytes.subarray(1 + 64)), 1);
      return bytes.toString('base64');
    });
    await page.addInitScript({ content: registerWallet(keypair.publicKey.toBase58()) });
    await page.goto('/');
    await page.getByRole('banner').getByRole('button', { name: 'Connect wallet' }).click();
    await dialog(page).getByRole('button', { name: 'Slow wallet' }).click();
    await dialog(page).waitFor({ state: 'detached' });
    return approved;
  }

  it('pays for a call once, after a second approval that the page explains', () =>
    site.visit({}, async (page) => {
      const { visitor } = site;
      const { wallet, keypair_path } = visitor.demo.callers[0]!;
      const approved = await connectSlow(page, readKeypair(keypair_path, "the caller's keypair"));
      const before = await visitor.balances();
      await page.goto(`/agents/${visitor.agent('sandbox-echo').agent_id}?tab=run`);
      await page.getByLabel('Task').fill('In my own time');
      await page.getByRole('button', { name: 'Pay 0.01 USDC and run' }).click();
      await dialog(page).getByRole('button', { name: 'Pay 0.01 USDC' }).click();
      await progress(page, 'Completed').waitFor();
      expect((await visitor.balances())[wallet]).to.equal(before[wallet]! - PRICE);
      expect(approved.transactions).to.equal(2);
    }));
});
