/** All that `@agent-marketplace/client/x402` exports: paid calls without a key, by a wallet that pays each of them. */

export { payWithX402, type X402Options, type X402Wallet } from './payment.ts';
export { type CheckedQuote, checkQuote, type Purchase, QuoteRefusedError } from './quote.ts';
