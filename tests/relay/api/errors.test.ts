/**
 * The error that a caller gets when the program refuses the open: each program error has one answer that fits its
 * schema.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { errorBody, openRefused } from '../../../app/relay/errors.ts';
import type { Progress } from '../../../app/relay/execution/deps.ts';
import { outcomeOf } from '../../../app/relay/execution/outcome.ts';
import type { JournalRow } from '../../../app/relay/ledger/tables.ts';
import { ERRORS, type ErrorCode } from '../../../app/sdk/wire/wire.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CALL = { execution_id: 'b566c309-b734-86c3-aa14-0eba1f5ff01a', wallet: 'W', price: 250_000n, max_cost: 300_000n };
const short = (limit: string) => ({ limit, wallet: 'W', have_usdc: null, need_usdc: 0.25, renews_at: null });
const changed = { price_usdc: null, max_cost_usdc: 0.3 };

const limits = { expected: "must be within the agent's limits", got: 'another' };
const outOfRange = { in: 'body', path: 'timeout_seconds', ...limits };

const REFUSALS: [programError: string | null, code: ErrorCode, details: unknown][] = [
  ['InsufficientBalance', 'insufficient_balance', short('balance')],
  ['InsufficientAllowance', 'insufficient_balance', short('allowance')],
  ['GrantPerExecutionExceeded', 'insufficient_balance', short('per_execution')],
  ['GrantPeriodExceeded', 'insufficient_balance', short('period')],
  ['GrantTotalExceeded', 'insufficient_balance', short('total')],
  ['PriceAboveMax', 'price_changed', changed],
  ['ListingVersionMismatch', 'price_changed', changed],
  ['ListingNotActive', 'agent_paused', null],
  ['TimeoutOutOfRange', 'invalid_request', { issues: [outOfRange] }],
  ['GrantRevoked', 'unauthorized', null],
  ['GrantExpired', 'unauthorized', null],
  ['OpensPaused', 'service_unavailable', null],
  [null, 'service_unavailable', null],
];

describe('an open that the program refuses', () => {
  const idl = JSON.parse(readFileSync(join(ROOT, 'app/sdk/program/idl/marketplace.json'), 'utf8'));
  const names: string[] = idl.errors.map((error: { name: string }) => error.name);

  for (const [programError, code, details] of REFUSALS) {
    it(`maps ${programError ?? 'an unnamed program error'} to ${ERRORS[code].status} ${code}, now and from the journal`, async () => {
      if (programError !== null) expect(names).to.include(programError);
      const refusal = openRefused(programError, 'why', CALL);
      const { error } = errorBody(refusal);
      expect(error).to.deep.include({ code, execution_id: CALL.execution_id, details });
      expect(refusal.retryAfterSeconds).to.equal(code === 'service_unavailable' ? 5 : undefined);
      const ended = { state: 'void', error_code: code, error_message: 'why', refund_state: null } as JournalRow;
      const asked = outcomeOf({} as Parameters<typeof outcomeOf>[0], CALL.execution_id, { ended } as Progress);
      const later = await asked.then(() => expect.fail('it has no outcome'), errorBody);
      expect(later.error).to.include({ code, execution_id: CALL.execution_id });
    });
  }
});
