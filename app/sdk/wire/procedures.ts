/**
 * The contract of /trpc, shared by CLI and dashboard: sessions, keys, listings, disputes, operation. The relay builds its
 * router from these schemas. client/management.ts has their types, and a table generated from them.
 */
import type { z } from 'zod';
import { accessProcedures } from './accessProcedures.ts';
import { disputeProcedures } from './disputeProcedures.ts';
import { listingProcedures } from './listingProcedures.ts';
import { operationProcedures } from './operationProcedures.ts';

export { KeySummary, SignInInput } from './accessProcedures.ts';
export * from './disputeProcedures.ts';
export * from './listingProcedures.ts';
export {
  ADMIN_ACTIONS,
  AdminAction,
  type AdminActionName,
  AdminEvent,
  ChangedSetting,
  HeldComparison,
  MarketplaceConfig,
  OperationState,
  PendingChanges,
} from './operationProcedures.ts';

/** Every procedure by its name. */
export const PROCEDURES = {
  ...operationProcedures,
  ...accessProcedures,
  ...listingProcedures,
  ...disputeProcedures,
} as const;

export type ProcedureName = keyof typeof PROCEDURES;
export type ProcedureInput<Name extends ProcedureName> = z.input<(typeof PROCEDURES)[Name]['input']>;
export type ProcedureOutput<Name extends ProcedureName> = z.output<(typeof PROCEDURES)[Name]['output']>;
