/** `@agent-marketplace/sdk/client`: typed clients of the REST API and of the /trpc procedures. */
export { MarketplaceError } from './answer.ts';
export * from './client.ts';
export * from './management.ts';
export * from './repeat.ts';
