/** Warns a wallet before its calls are refused: of a key that has nearly spent its caps, and of a low gas balance. */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { GroupCommit } from '../../database/groupCommit.ts';
import { U64_MAX } from '../../sdk/wire/decimal.ts';
import type { EventData, EventType } from '../../sdk/wire/events.ts';
import { toUsdc } from '../../sdk/wire/usdc.ts';
import { periodLeft } from '../execution/begin/payer.ts';
import type { ClaimedCall } from '../execution/deps.ts';
import { raiseWarning, takeBackWarning, type Warning } from '../ledger/events.ts';
import type { Databases } from '../ledger/tables.ts';
import type { Now } from '../waiting.ts';

/** A cap is near when this share of it is spent, per cent. */
const NEAR_PERCENT = 80n;
/** The gas balance is low when it pays for fewer calls than this. */
const LOW_CALLS = 10n;
/** Last states in memory, about 100 bytes each: the ledger is written only when a state changes. */
const MAX_KNOWN = 50_000;

interface WarningsDeps extends Pick<Databases, 'ledger'>, Now {
  writes: Pick<GroupCommit, 'underLocks'>;
  log: Logger;
}

/** Returns a function to call for each claimed call. It warns once for each crossing, and never delays the call. */
export function createWarnings({ ledger, writes, now, log }: WarningsDeps): (call: ClaimedCall) => void {
  const known = new LRUCache<string, boolean>({ max: MAX_KNOWN });

  function judge<Type extends EventType>(
    wallet: string,
    [type, subject, data]: [type: Type, subject: string, data: EventData<Type>],
    holds: boolean,
  ): void {
    const warning: Warning = { wallet, type, subject };
    const name = `${wallet} ${type} ${subject}`;
    if (known.get(name) === holds) return;
    known.set(name, holds);
    const written = holds
      ? raiseWarning(ledger, writes, warning, JSON.stringify(data), now())
      : takeBackWarning(ledger, warning);
    written.catch((error) => {
      known.delete(name);
      log.warn({ error, wallet, type }, 'cannot store a warning event');
    });
  }

  return ({ wallet, keyId, price, grant, now: at, gas, gasBalance }) => {
    const caps = [
      ['period', grant.periodMax - periodLeft(grant, at) + price, grant.periodMax],
      ['total', grant.totalSpent + price, grant.totalMax],
    ] as const;
    for (const [limit, spent, max] of caps) {
      const data = { key_id: keyId, limit, spent_usdc: toUsdc(spent), max_usdc: toUsdc(max) };
      // The largest amount means no cap.
      const isNear = max < U64_MAX && spent * 100n >= max * NEAR_PERCENT;
      judge(wallet, ['key.cap_near', `${keyId} ${limit}`, data], isNear);
    }
    if (gas === 0n) return;
    const left = gasBalance > 0n ? gasBalance : 0n;
    const calls = left / gas;
    const data = { gas_lamports: Number(left), calls_left: Number(calls) };
    judge(wallet, ['gas.low', '', data], calls < LOW_CALLS);
  };
}
