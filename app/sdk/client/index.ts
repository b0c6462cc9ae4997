/** `@agent-marketplace/sdk/client`: clients of the REST API and of the /trpc procedures. */
export * from './caller.ts';
export * from './client.ts';
export * from './management.ts';
export * from './repeat.ts';
