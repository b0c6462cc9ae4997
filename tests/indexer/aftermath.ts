/** Instructions for everything that can follow a settle or a refund: disputes, changed grants, closed accounts. */
import { createTransferInstruction } from '@solana/spl-token';
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import * as program from '../../app/sdk/program/program.ts';
import type { Execution, Market } from './market.ts';

export const EVIDENCE_URI = 'https://example.com/evidence.json';
/** The service fee that a deposit holds besides the price. */
export const SERVICE_FEE = 5_000n;
const bytes = (fill: number) => new Uint8Array(32).fill(fill);
/** SHA-256 values as index.db shows them. */
export const EVIDENCE_HASH = Buffer.from(bytes(0xe1)).toString('hex');
export const REASON_HASH = Buffer.from(bytes(0xe2)).toString('hex');

/** Builders that need only the market. The caller pays rents and bonds; the admin resolves disputes. */
export function createAftermath(market: Market) {
  const { caller, creator, listing, usdcMint } = market;
  const wallet = caller.publicKey;
  return {
    dispute: ({ executionId }: Execution): TransactionInstruction =>
      program.openDispute({
        caller: wallet,
        payer: wallet,
        executionId,
        listing,
        evidenceHash: bytes(0xe1),
        evidenceUri: EVIDENCE_URI,
        maxBond: 1_000_000_000n,
      }),

    resolve: ({ executionId }: Execution, admin: PublicKey, upheld: boolean, amount: bigint) =>
      program.resolveDispute({
        admin,
        executionId,
        listing,
        caller: wallet,
        creator: creator.publicKey,
        rentSponsor: wallet,
        usdcMint,
        upheld,
        amount,
        reasonHash: bytes(0xe2),
      }),

    claim: ({ executionId }: Execution, authority: PublicKey) =>
      program.claimDisputeAward({
        authority,
        executionId,
        listing,
        destination: market.source,
        rentSponsor: creator.publicKey,
      }),

    lapse: ({ executionId }: Execution) => program.lapseDispute({ executionId, listing, rentSponsor: wallet }),

    /** Moves a refund that the caller's account cannot receive. */
    move: ({ executionId, keyId, rentSponsor }: Execution, authority: PublicKey, tree: PublicKey) =>
      program.moveUnclaimedRefund({
        ...{ authority, executionId, listing, caller: wallet, keyId, rentSponsor, usdcMint: market.usdcMint },
        ...{ archiveIndex: 0, tree, reason: 'unserved', gasLamports: 0 },
      }),

    closeRecord: ({ executionId, rentSponsor }: Execution) => program.closeExecution({ executionId, rentSponsor }),

    closeDispute: ({ executionId }: Execution) => program.closeDispute({ executionId, rentSponsor: wallet }),

    withdrawGas: (lamports: bigint) => program.withdrawGas({ wallet, lamports }),

    createArchive: (tree: PublicKey, lamports: number) => [
      program.createTreeAccount({ payer: wallet, tree, lamports }),
      program.createArchive({ payer: wallet, tree, index: 0 }),
    ],

    archive: (tree: PublicKey, executions: Execution[]) =>
      program.archiveExecutions({
        index: 0,
        tree,
        executions: executions.map(({ executionId, rentSponsor }) => ({
          record: program.findExecution(executionId),
          rentSponsor,
        })),
      }),

    /** A deposit for these terms of an open. The relay prepares it for the caller and pays its rent. */
    deposit: (terms: program.OpenTerms, price: bigint) => {
      const relay = market.relay.publicKey;
      const quote = { terms: { listing, ...terms }, payer: wallet, price, serviceFee: SERVICE_FEE, usdcMint };
      const { address, vault } = program.depositAddress(quote);
      const rent = { rentPayer: relay, rentSponsor: relay, caller: wallet };
      return {
        address,
        prepare: program.prepareDeposit({ ...quote, ...rent, authority: relay }),
        pay: createTransferInstruction(market.source, vault, wallet, price + SERVICE_FEE),
        open: program.openExecutionFromDeposit({
          ...{ ...terms, listing, usdcMint, relayAuthority: relay, payer: relay, rentSponsor: relay },
          ...{ deposit: address, quotedPayer: wallet, depositRentSponsor: relay },
        }),
        refund: (authority: PublicKey) =>
          program.refundDeposit({
            ...{ authority, deposit: address, destination: market.source, rentSponsor: relay, usdcMint },
          }),
        move: (authority: PublicKey, tree: PublicKey) =>
          program.moveUnclaimedDeposit({
            ...{ authority, deposit: address, caller: wallet, rentSponsor: relay, usdcMint, archiveIndex: 0, tree },
          }),
      };
    },

    closeGrant: (keyId: Uint8Array) => program.closeGrant({ wallet, keyId, rentSponsor: wallet }),

    updateGrant: async (keyId: Uint8Array, changes: Partial<program.GrantLimits>) =>
      program.updateGrant({ wallet, keyId, limits: { ...(await market.limits()), ...changes } }),

    topUp: (amount: bigint) =>
      program.topUpCollateral({ creator: creator.publicKey, listing, source: market.payout, amount }),

    delist: () => program.delistAgent({ creator: creator.publicKey, listing }),

    sweepForfeits: () => program.sweepForfeits({ listing, rentSponsor: creator.publicKey }),

    returnCollateral: () =>
      program.returnCollateral({
        creator: creator.publicKey,
        listing,
        usdcMint,
        rentSponsor: creator.publicKey,
      }),
  };
}

/** The decoded accounts behind rows; null for an account that does not exist. */
export async function readAccount<Name extends keyof program.Accounts>(
  market: Market,
  name: Name,
  address: PublicKey,
): Promise<program.Accounts[Name] | null> {
  const account = await market.node.connection.getAccountInfo(address, 'confirmed');
  return account && program.decodeAccount(name, account.data);
}
