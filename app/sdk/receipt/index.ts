/** `@agent-marketplace/sdk/receipt`: hashes, ids and signatures of paid executions, receipts and checking them, API keys. */
export * from './apiKey.ts';
export * from './metadataHash.ts';
export * from './receipt.ts';
export * from './verify.ts';
