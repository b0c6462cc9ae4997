/** `@agent-marketplace/sdk/receipt`: hashes, ids and signatures of paid executions, API keys, and hashes of metadata. */
export * from './apiKey.ts';
export * from './metadataHash.ts';
export * from './receipt.ts';
