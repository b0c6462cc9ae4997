/** `@agent-marketplace/sdk/program`: the program on Solana, its addresses, accounts, instructions and events. */

export * from './archive.ts';
export * from './eventFields.ts';
export * from './events.ts';
export type { Marketplace } from './idl/marketplace.ts';
export type { ProgramIdl } from './idlTypes.ts';
export * from './program.ts';
export * from './transaction.ts';
