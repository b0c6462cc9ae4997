/** Size and rent of each kind of account, read from a world in which all of them exist. */
import type { PublicKey } from '@solana/web3.js';
import * as program from '../../app/sdk/program/program.ts';
import { GAS, world } from '../../tests/harness/vm/world.ts';
import { dispute } from '../../tests/program/exploits/acts.ts';

export interface AccountCost {
  name: string;
  /** Bytes of data. */
  bytes: number;
  /** Lamports of rent, without a dispute's bond and a record's gas. */
  rent_lamports: number;
}

/** All kinds of accounts that the program creates, including token accounts. */
export async function accountCosts(): Promise<AccountCost[]> {
  const w = await world({ kind: 'litesvm' });
  const { admin, creator, caller, relay } = w;
  const badge = { admin: admin.publicKey, payer: admin.publicKey, creator: creator.publicKey, verified: true };
  await w.must([program.setCreatorVerified(badge)], [admin]);
  const disputed = await w.open();
  await w.must([w.settleInstruction(disputed)], [relay]);
  await w.must([dispute(w, disputed)], [caller]);
  const open = await w.open();

  const places: [string, PublicKey][] = [
    ['Config', program.findConfig()],
    ['CreatorProfile', program.findCreator(creator.publicKey)],
    ['AgentListing', w.listing],
    ['SigningKey', program.findSigningKey(w.signingKey.publicKey)],
    ['CreatorCollateral', program.findCollateral(w.listing)],
    ['KeyGrant', program.findGrant(caller.publicKey, w.keyId)],
    ['ExecutionRecord', open.record],
    ['Dispute', program.findDispute(disputed.record)],
    ['treasury (token account)', program.findTreasury()],
    ['collateral vault (token account)', program.findCollateralVault(w.listing)],
    ['escrow (token account)', open.escrow],
  ];
  const costs: AccountCost[] = [];
  for (const [name, address] of places) {
    const account = await w.vm.getAccount(address);
    if (!account) throw new Error(`there is no ${name}`);
    const bond = name === 'Dispute' ? w.configInput().disputeBondLamports : 0n;
    const gas = name === 'ExecutionRecord' ? BigInt(GAS) : 0n;
    costs.push({ name, bytes: account.data.length, rent_lamports: Number(account.lamports - bond - gas) });
  }
  return costs;
}
