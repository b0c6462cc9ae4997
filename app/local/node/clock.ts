/** The sysvar Clock of a slot. */
import { Clock } from 'litesvm/dist/internal.js';
import { SLOTS_PER_EPOCH, type Slots } from './slots.ts';

export function clockAt(slots: Slots, slot: number): Clock {
  const epoch = Math.floor(slot / SLOTS_PER_EPOCH);
  const time = BigInt(slots.clock(slot));
  const epochStart = slots.time(epoch * SLOTS_PER_EPOCH);
  return new Clock(
    BigInt(slot),
    epochStart === null ? time : BigInt(epochStart),
    BigInt(epoch),
    BigInt(epoch + 1),
    time,
  );
}

/** Its bytes in the account. */
export function clockData({ slot, epochStartTimestamp, epoch, leaderScheduleEpoch, unixTimestamp }: Clock): Uint8Array {
  return new Uint8Array(
    new BigUint64Array([slot, epochStartTimestamp, epoch, leaderScheduleEpoch, unixTimestamp]).buffer,
  );
}
