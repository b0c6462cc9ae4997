/** The modules that chain.ts loads. */

export * as program from '../../sdk/program/index.ts';
export * from '../../sdk/wallet/index.ts';
export { Connection, PublicKey, Transaction, VersionedTransaction } from './web3.ts';
