/** What chain.ts loads at once. The first import makes what web3.js takes for given. */
import './buffer.ts';

export { Connection, PublicKey, Transaction, VersionedTransaction } from '@solana/web3.js';
export * as program from '../../sdk/program/index.ts';
export * from '../../sdk/wallet/index.ts';
