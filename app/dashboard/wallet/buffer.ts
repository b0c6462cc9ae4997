/** Node's Buffer, which web3.js takes for given. */
import { Buffer } from 'buffer/';

Object.assign(globalThis, { Buffer });
