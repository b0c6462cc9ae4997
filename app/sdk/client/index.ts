/** `@agent-marketplace/sdk/client`: typed clients of the REST API and of the procedures that manage keys and listings. */
export * from './client.ts';
