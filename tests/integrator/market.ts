/**
 * The environment of an integrator: a real node, the marketplace with its mock USDC, and funded wallets, each with a
 * plain client. `moved` reports the changes that a step makes to every token account.
 */
import anchor from '@coral-xyz/anchor';
import { AccountLayout, getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { createMockUsdc, initializeMarketplace, mintMockUsdc } from '../../app/local/network.ts';
import { startNode } from '../harness/node/node.ts';
import { type Client, createClient, find, possession, sha256 } from './client.ts';

/** Initial balance of every wallet: 100 USDC and 100 SOL. */
const FUNDS = 100_000_000n;
const LAMPORTS = 100_000_000_000;
/** Required collateral at the test's prices. */
export const DEPOSIT = 5_000_000n;
/** Network fee of one signature, in lamports. */
export const SIGNATURE = 5_000n;

const ROLES = ['creator', 'caller', 'stranger', 'relay'] as const;

export type Market = Awaited<ReturnType<typeof startMarket>>;

/** A number in Anchor's type. */
export const bn = (value: bigint | number) => new anchor.BN(value.toString());

/** A listing's terms, price in base units. */
export const terms = (price: bigint, metadataUri = '') => ({
  price: bn(price),
  timeoutSeconds: 60,
  minTimeoutSeconds: 1,
  tagMask: 0b101,
  metadataHash: [...sha256('description')],
  metadataUri,
});

/** Starts everything with the usual settings; `stop` ends it. */
export async function startMarket() {
  const node = await startNode();
  const { connection, payer: admin } = node;
  const usdcMint = await createMockUsdc(connection, {
    payer: admin,
    mint: Keypair.generate(),
    mintAuthority: admin.publicKey,
  });
  const keypairs = Object.fromEntries(ROLES.map((role) => [role, Keypair.generate()])) as Record<
    (typeof ROLES)[number],
    Keypair
  >;
  await initializeMarketplace(connection, {
    upgradeAuthority: admin,
    payer: admin,
    admin: admin.publicKey,
    relayAuthorities: [keypairs.relay.publicKey],
    usdcMint,
  });
  const parties: Record<string, PublicKey> = { treasury: find('TREASURY_SEED') };
  for (const role of ROLES) {
    const owner = keypairs[role].publicKey;
    await node.fundSol(owner, LAMPORTS);
    await mintMockUsdc(connection, { payer: admin, mintAuthority: admin, mint: usdcMint, owner, amount: FUNDS });
    parties[role] = getAssociatedTokenAddressSync(usdcMint, owner);
  }

  /** Balances of every party, in base units; 0 for an account that does not exist. */
  async function holdings(): Promise<Map<string, bigint>> {
    const read = Object.entries(parties).map(async ([name, address]) => {
      const account = await connection.getAccountInfo(address, 'confirmed');
      return [name, account ? AccountLayout.decode(account.data).amount : 0n] as const;
    });
    return new Map(await Promise.all(read));
  }

  return {
    node,
    connection,
    usdcMint,
    keypairs,
    clients: {
      creator: createClient(connection, keypairs.creator),
      caller: createClient(connection, keypairs.caller),
      stranger: createClient(connection, keypairs.stranger),
      relay: createClient(connection, keypairs.relay),
      admin: createClient(connection, admin),
    } satisfies Record<string, Client>,
    /** Token accounts by the name of their holder. Tests add new ones. */
    parties,
    /** Returns the changes of a step, in base units by party without zeros, and the step's result. */
    async moved<T>(step: () => Promise<T>): Promise<[Record<string, bigint>, T]> {
      const before = await holdings();
      const result = await step();
      const changes = [...(await holdings())].map(([name, now]) => [name, now - (before.get(name) ?? 0n)] as const);
      return [Object.fromEntries(changes.filter(([, change]) => change !== 0n)), result];
    },
    /** An address's lamports. */
    lamportsOf: async (address: PublicKey) => BigInt(await connection.getBalance(address, 'confirmed')),
    stop: () => node.stop(),
  };
}

/** Lists an agent as its creator, with `signingKey` for its results. */
export function listAgent({ clients, parties }: Market, listingId: Buffer, signingKey: Keypair, price: bigint) {
  const listing = find('LISTING_SEED', clients.creator.wallet.toBytes(), listingId);
  const { publicKey } = signingKey;
  const proof = possession(signingKey, listing);
  const args = {
    listingId: [...listingId],
    signingKey: publicKey,
    possession: proof,
    maxDeposit: bn(DEPOSIT),
    terms: terms(price),
  };
  const funds = parties.creator!;
  return clients.creator.send('listAgent', args, { source: funds, payout: funds });
}
