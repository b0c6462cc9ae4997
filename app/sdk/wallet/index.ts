/** `@agent-marketplace/sdk/wallet`: what a wallet does on the marketplace, over anything that can sign for it. */
export * from './apiKeys.ts';
export * from './connection.ts';
export * from './disputes.ts';
export * from './executions.ts';
export * from './format.ts';
export * from './gas.ts';
export * from './grants.ts';
export * from './listingDraft.ts';
export * from './listings.ts';
export * from './marketplace.ts';
export * from './refusal.ts';
export * from './send.ts';
export * from './service.ts';
export * from './settings.ts';
export * from './signer.ts';
export * from './tokenAccount.ts';
export * from './upkeep.ts';
