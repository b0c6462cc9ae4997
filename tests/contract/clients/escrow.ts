/** Makes two instructions again, and reads a record, with the client that Codama generates. */
import { type Address, createNoopSigner } from '@solana/kit';
import * as marketplace from './generated/index.js';

/** The address of an account, by its name in the IDL. */
type Accounts = (name: string) => Address;

/** Accounts that are not named here are found by the client. */
export function open(account: Accounts, data: Uint8Array) {
  return marketplace.getOpenExecutionInstructionAsync({
    caller: createNoopSigner(account('caller')),
    payer: createNoopSigner(account('payer')),
    rentSponsor: account('rent_sponsor'),
    listing: account('listing'),
    record: account('record'),
    source: account('source'),
    usdcMint: account('usdc_mint'),
    args: marketplace.getOpenExecutionInstructionDataDecoder().decode(data).args,
  });
}

export function refund(account: Accounts, data: Uint8Array) {
  return marketplace.getRefundExecutionInstructionAsync({
    authority: createNoopSigner(account('authority')),
    record: account('record'),
    collateral: account('collateral'),
    destination: account('destination'),
    grant: account('grant'),
    spender: account('spender'),
    rentSponsor: account('rent_sponsor'),
    args: marketplace.getRefundExecutionInstructionDataDecoder().decode(data).args,
  });
}

/** Fields of a record, through a leaf of an archive, which has the same ones. */
export function read(record: Address, data: Uint8Array) {
  const execution = marketplace.getExecutionRecordDecoder().decode(data);
  const leaf = marketplace.getArchivedExecutionEncoder().encode({ record, execution });
  const { execution: again } = marketplace.getArchivedExecutionDecoder().decode(leaf);
  const { status, price, caller, requestHash } = again;
  return { status: marketplace.ExecutionStatus[status], price, caller, requestHash: [...requestHash] };
}
