/**
 * Opens disputes and pays calls with the wallet of a keypair file. Loaded only if one is configured, because it needs
 * Solana's library.
 */

import { hexToBytes } from '@noble/hashes/utils.js';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { clusterApiUrl, Keypair } from '@solana/web3.js';
import { payWithX402, type X402Options } from '../sdk/client/x402.ts';
import { loadSigningKey } from '../sdk/creator/signingKey.ts';
import { DEVNET_USDC, MAINNET_USDC } from '../sdk/program/clusters.ts';
import { findTokenAccount, parseAddress } from '../sdk/program/program.ts';
import { parseUuid } from '../sdk/receipt/receipt.ts';
import { archiveFrom } from '../sdk/wallet/archive.ts';
import { connect, readTokens } from '../sdk/wallet/connection.ts';
import { disputeExecution } from '../sdk/wallet/disputes.ts';
import { openChain } from '../sdk/wallet/marketplace.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { openSession } from '../sdk/wallet/service.ts';
import { keypairSigner } from '../sdk/wallet/signer.ts';
import type { Market } from './market.ts';
import type { Wallet } from './tools/tool.ts';

/** The token and node that x402's packages use, unless the user names others. */
const DEFAULTS = {
  mainnet: { usdc: MAINNET_USDC, rpcUrl: clusterApiUrl('mainnet-beta') },
  devnet: { usdc: DEVNET_USDC, rpcUrl: clusterApiUrl('devnet') },
};

/** Throws if the file is not a keypair. */
export function createDispute(options: {
  baseUrl: string;
  rpcUrl: string | null;
  keypair: string;
}): NonNullable<Market['dispute']> {
  const wallet = keypairSigner(Keypair.fromSecretKey(loadSigningKey(options.keypair), { skipValidation: true }));
  return async (executionId, evidence) => {
    const id = parseUuid(executionId);
    if (!id) throw new Refusal(`${executionId} is not an execution_id.`);
    const session = await openSession(options, wallet);
    // The service stores the evidence for the admin and the creator. The chain stores its hash.
    const { evidence_hash } = await session.call('disputes.putEvidence', {
      execution_id: executionId,
      content: Buffer.from(evidence).toString('base64'),
      media_type: 'text/plain',
    });
    const opened = await disputeExecution(await openChain(options), {
      wallet,
      executionId: id,
      evidenceHash: hexToBytes(evidence_hash),
      evidenceUri: '',
      findArchive: archiveFrom(options),
    });
    return { signature: opened.signature, evidence_hash, bond_lamports: Number(opened.bond_lamports) };
  };
}

/** Pays calls by x402. Throws if the file is not a keypair, or an option is not an address or URL. */
export async function createPayment(
  options: { keypair: string } & Pick<X402Options, 'network' | 'asset' | 'rpcUrl'>,
): Promise<Wallet> {
  const { keypair, network = 'mainnet', asset = DEFAULTS[network].usdc, rpcUrl = DEFAULTS[network].rpcUrl } = options;
  const wallet = await createKeyPairSignerFromBytes(loadSigningKey(keypair));
  const connection = connect(rpcUrl);
  const account = findTokenAccount(parseAddress(wallet.address), parseAddress(asset));
  return {
    ...payWithX402({ wallet, network, asset, rpcUrl }),
    readBalance: async () => (await readTokens(connection, account)) ?? 0n,
  };
}
