/** Shows why something could not be read, and offers a retry. */
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { MarketplaceError } from '../../sdk/client/error.ts';
import { configQuery, explain, queryClient } from '../service.ts';
import { sessionQuery } from '../wallet/session.ts';
import { ContactOperator } from './links.tsx';
import { Button, LINK, Note, Skeleton } from './ui.tsx';

interface TroubleProps {
  error: unknown;
  /** The thing to read, such as "The keys". */
  what: string;
  onRetry(): void;
}

export function Trouble({ error, what, onRetry }: TroubleProps) {
  const isSignedOut = error instanceof MarketplaceError && error.status === 401;
  const isFault = error instanceof MarketplaceError && error.code === 'internal_error';
  // An ended session is noticed here first. Reading the session again makes the view offer to sign in.
  useEffect(() => {
    if (isSignedOut) void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
  }, [isSignedOut]);
  return (
    <Note tone="bad" title={`${what} could not be loaded`}>
      <p>{isSignedOut ? 'Your session has ended. Connect your wallet again to continue.' : explain(error)}</p>
      <p className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button small onClick={onRetry}>
          Try again
        </Button>
        {isFault && <ContactOperator className={LINK} />}
      </p>
    </Note>
  );
}

export interface UnreadProps {
  query: { data: unknown; error: unknown; refetch(): unknown };
  /** The thing to read, such as "The keys". */
  what: string;
  /** The size of the grey bars. */
  className?: string | undefined;
}

/** The trouble of a query, else grey bars until it is read. */
export function Unread({ query: { data, error, refetch }, what, className }: UnreadProps) {
  if (error) return <Trouble error={error} what={what} onRetry={refetch} />;
  return data === undefined && <Skeleton className={className} />;
}

/** For a view that needs the settings of the marketplace; nothing while they are known or being read. */
export function SettingsTrouble() {
  const { data, error, refetch } = useQuery(configQuery);
  return error && !data && <Trouble error={error} what="The settings of the marketplace" onRetry={refetch} />;
}
