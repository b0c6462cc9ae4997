/** The answer of `GET /v1/key`: limits, spend and restrictions of the API key that asks. */
import * as z from 'zod';
import { Count, Lamports, Time, Usdc } from './fields.ts';
import { KEY_SCOPES } from './keyScopes.ts';

export const OwnKey = z.strictObject({
  key_id: z.string(),
  name: z.string(),
  wallet: z.string(),
  environment: z.enum(['live', 'test']),
  /** When the service stops accepting the key: the earlier of the grant's end and the key's own end. */
  expires_at: Time.nullable(),
  scopes: z.array(z.enum(KEY_SCOPES)),
  /** Null if any address is allowed. */
  allowed_ips: z.array(z.string()).nullable(),
  /** Null if any agent is allowed. */
  allowed_agents: z.array(z.string()).nullable(),
  execution_count: Count,
  /** The highest price that a call may have now: the smallest of the limits, the balance and the allowance. */
  payable_usdc: Usdc,
  per_execution_max_usdc: Usdc,
  period_max_usdc: Usdc,
  period_spent_usdc: Usdc,
  period_remaining_usdc: Usdc,
  period_seconds: Count,
  renews_at: Time,
  total_max_usdc: Usdc,
  total_spent_usdc: Usdc,
  total_remaining_usdc: Usdc,
  /** Balance and allowance of the wallet, which all its keys share. */
  balance_usdc: Usdc,
  allowance_usdc: Usdc,
  /** False if the allowance ends before the key's total limit. */
  allowance_covers_total: z.boolean(),
  gas: z.strictObject({
    /** The address to send lamports to. */
    gas_balance_address: z.string(),
    lamports: Lamports,
    next_call_lamports: Lamports,
    max_gas_lamports: Lamports,
    pays_next_call: z.boolean(),
    is_sponsored: z.boolean(),
  }),
});
export type OwnKey = z.infer<typeof OwnKey>;
