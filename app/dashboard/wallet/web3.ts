/** The first import makes what web3.js takes for given. */
import './buffer.ts';

export { Connection, PublicKey, Transaction, VersionedTransaction } from '@solana/web3.js';
