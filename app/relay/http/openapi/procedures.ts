/**
 * The procedures of /trpc that people need without the project's own client: config.get and config.changes, with the
 * format of tRPC's answers and errors. The others are for management; their typed client is app/sdk/client/management.ts.
 */
import { z } from 'zod';
import { DEVNET_GENESIS } from '../../../sdk/program/clusters.ts';
import { findTreasury, PROGRAM_ID } from '../../../sdk/program/program.ts';
import { ERROR_CODES, type ErrorCode } from '../../../sdk/wire/errorCodes.ts';
import { STANDARD_TAGS } from '../../../sdk/wire/metadata.ts';
import { MarketplaceConfig, PendingChanges } from '../../../sdk/wire/procedures.ts';

export const CONFIG_PATH = '/trpc/config.get';
export const CHANGES_PATH = '/trpc/config.changes';

/** 200 of `GET /trpc/config.get`. */
export const ConfigAnswer = z.strictObject({ result: z.strictObject({ data: MarketplaceConfig }) });

/** 200 of `GET /trpc/config.changes`. */
export const ChangesAnswer = z.strictObject({ result: z.strictObject({ data: PendingChanges }) });

/** Every error of /trpc: tRPC's format with our codes. */
export const ProcedureError = z.strictObject({
  error: z.strictObject({
    message: z.string(),
    /** tRPC's own number. */
    code: z.int(),
    data: z.strictObject({
      code: z.enum(ERROR_CODES),
      httpStatus: z.int(),
      details: z.record(z.string(), z.unknown()).nullable(),
      request_id: z.string().nullable(),
    }),
  }),
});

/** Other answers of both, by status. `-32600` and the like are JSON-RPC's numbers, which tRPC uses. */
export const CONFIG_ERRORS: Record<number, { code: ErrorCode; number: number }> = {
  400: { code: 'invalid_request', number: -32600 },
  405: { code: 'method_not_allowed', number: -32005 },
  429: { code: 'rate_limited', number: -32029 },
  500: { code: 'internal_error', number: -32603 },
  503: { code: 'service_unavailable', number: -32603 },
};

/** The answer of `GET /trpc/config.get`. */
export const CONFIG_ANSWER = {
  result: {
    data: {
      environment: 'test',
      operator_contact: 'mailto:help@example.com',
      program_id: PROGRAM_ID.toBase58(),
      usdc_mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
      genesis_hash: DEVNET_GENESIS,
      admin: '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2',
      relay_authorities: ['3kMwk9uKM5mbvVN9qTZcgTdhXyLCVQwDdWBnYhZfZ1nH'],
      treasury: findTreasury().toBase58(),
      rpc_url: 'https://api.devnet.solana.com',
      explorer_query: '?cluster=devnet',
      egress_ips: ['203.0.113.7'],
      fee_bps: 100,
      min_price_usdc: 0.01,
      exposure_multiple: 10,
      max_timeout_seconds: 3_600,
      dispute_window_seconds: 259_200,
      refund_grace_seconds: 600,
      record_seconds: 3_600,
      longest_span_seconds: 263_400,
      dispute_bond_lamports: 10_000_000,
      collateral_tiers: [{ max_price_usdc: 1, deposit_usdc: 5 }],
      standard_tags: [...STANDARD_TAGS],
      x402_service_fee_usdc: 0.005,
      is_sponsored: false,
    },
  },
} as const;

/** The answer of `GET /trpc/config.changes`. */
export const CHANGES_ANSWER = {
  result: {
    data: {
      guardian: '3kMwk9uKM5mbvVN9qTZcgTdhXyLCVQwDdWBnYhZfZ1nH',
      admin_delay_seconds: 86_400,
      changes: [
        {
          change: '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2',
          change_id: '1767225600000',
          subject: 'settings',
          status: 'waiting',
          settings: [{ setting: 'fee', unit: 'basis_points', before: 100, after: 50 }],
          proposed_at: '2026-01-01T00:00:00.000Z',
          applicable_at: '2026-01-02T00:00:00.000Z',
          applicable_in_seconds: 3_600,
          expires_at: '2026-01-09T00:00:00.000Z',
        },
      ],
    },
  },
} as const;
