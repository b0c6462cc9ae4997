/**
 * A receipt: one document that proves to anyone that an execution was requested, answered and paid.
 * `@agent-marketplace/sdk/receipt` checks it, by itself and against any Solana node.
 */
import * as z from 'zod';
import { ReceiptShape } from './receiptShape.ts';

/** GET /v1/executions/{execution_id}/receipt. Exists for settled executions only. */
export const Receipt = new z.ZodObject(ReceiptShape._zod.def) as unknown as z.ZodObject<
  typeof ReceiptShape.shape,
  z.core.$strict
>;
export type Receipt = z.infer<typeof Receipt>;
