/** The creator's collateral, read on request from the chain itself and not from the service. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Trouble } from '../../parts/trouble.tsx';
import { Button, Facts, Spinner } from '../../parts/ui.tsx';
import { formatAmount, formatCount, Id } from '../../parts/values.tsx';
import { openChain } from '../../wallet/chain.ts';

async function readListing(agentId: string) {
  const { marketplace, showListing, PublicKey } = await openChain();
  return showListing(marketplace, new PublicKey(agentId));
}

export function Collateral({ agentId }: { agentId: string }) {
  const [isAsked, setAsked] = useState(false);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['collateral', agentId],
    queryFn: () => readListing(agentId),
    enabled: isAsked,
    staleTime: 60_000,
  });
  if (data) {
    return (
      <Facts
        rows={[
          ['Collateral', formatAmount(Number(data.collateral_usdc))],
          Number(data.slashed_usdc) > 0 && ['Taken by disputes', formatAmount(Number(data.slashed_usdc))],
          Number(data.forfeited_usdc) > 0 && ['Of it kept for callers', formatAmount(Number(data.forfeited_usdc))],
          ['Open disputes', formatCount(data.open_disputes)],
          ['Signing key', <Id key="key" value={data.signing_key} kind="address" />],
        ]}
      />
    );
  }
  if (error && !isFetching) return <Trouble error={error} what="The listing on the chain" onRetry={refetch} />;
  return (
    <div className="grid gap-2 text-sm text-faint">
      <p>The chain also has its collateral, open disputes and signing key.</p>
      <div className="flex min-h-8 items-center">
        {isFetching ? (
          <Spinner label="Reading the chain …" />
        ) : (
          <Button small onClick={() => setAsked(true)}>
            Read it from the chain
          </Button>
        )}
      </div>
    </div>
  );
}
