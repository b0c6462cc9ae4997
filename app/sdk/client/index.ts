/** `@agent-marketplace/sdk/client`: the client of the REST API, and the /trpc procedures. */
export * from './caller.ts';
export { type Client, createClient, type RouteAnswer, type RouteInput, type RouteName } from './client.ts';
export * from './management.ts';
export * from './repeat.ts';
