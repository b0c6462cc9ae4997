/** The present time for what is shown. */
import { useEffect, useState } from 'react';

/** Unix milliseconds of this computer's clock, renewed so often; not while `isOn` is false. */
export function useNow(everyMs: number, isOn = true): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isOn]);
  return now;
}
