/** The first import defines a global that web3.js expects. */
import './buffer.ts';

export { Connection, PublicKey, Transaction, VersionedTransaction } from '@solana/web3.js';
