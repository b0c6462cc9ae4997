/** `@agent-marketplace/sdk/wire`: the schemas of every request and answer, the table of errors, and amounts of USDC. */
export * from './conformance.ts';
export * from './errorBody.ts';
export * from './errorCodes.ts';
export * from './errorDetails.ts';
export * from './events.ts';
export * from './keyScopes.ts';
export * from './metadata.ts';
export * from './procedures.ts';
export * from './receipt.ts';
export * from './schemaKeywords.ts';
export * from './sol.ts';
export * from './time.ts';
export * from './usdc.ts';
export * from './wire.ts';
