/** Where something could not be read: why, and the way on. */
import { useEffect } from 'react';
import { MarketplaceError } from '../../sdk/client/error.ts';
import { explain, queryClient } from '../service.ts';
import { sessionQuery } from '../wallet/session.ts';
import { Button, Note } from './ui.tsx';

interface TroubleProps {
  error: unknown;
  /** What was to be read, such as "The keys". */
  what: string;
  onRetry(): void;
}

export function Trouble({ error, what, onRetry }: TroubleProps) {
  const isSignedOut = error instanceof MarketplaceError && error.status === 401;
  // A session that has ended is noticed here first; whoever shows its views then offers to sign in.
  useEffect(() => {
    if (isSignedOut) void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
  }, [isSignedOut]);
  return (
    <Note tone="bad" title={`${what} could not be read`}>
      <p>{isSignedOut ? 'Your sign-in has ended. Sign in again to go on.' : explain(error)}</p>
      <Button small className="mt-3" onClick={onRetry}>
        Try again
      </Button>
    </Note>
  );
}
