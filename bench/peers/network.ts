/** The one network id of x402's that a local node can go by; the node's own address is given beside it. */
export const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
