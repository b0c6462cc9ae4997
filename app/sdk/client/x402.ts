/** All exports of `@agent-marketplace/client/x402`: paid calls without an API key, each paid from a wallet. */

export { payWithX402, type X402Options, type X402Wallet } from './payment.ts';
export { type CheckedQuote, checkQuote, type Purchase, QuoteRefusedError } from './quote.ts';
