/** `@agent-marketplace/sdk/receipt`: hashes, ids and signatures of paid executions, checks of receipts, API keys. */
export * from './apiKey.ts';
export * from './metadataHash.ts';
export * from './receipt.ts';
export * from './verify.ts';
