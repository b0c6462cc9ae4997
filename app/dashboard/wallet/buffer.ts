/** Node's Buffer, which web3.js expects as a global. */
import { Buffer } from 'buffer/';

Object.assign(globalThis, { Buffer });
