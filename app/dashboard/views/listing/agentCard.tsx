/** The agent as callers will see it in a list. */
import { Avatar } from '../../parts/avatar.tsx';
import { Badge, Card } from '../../parts/ui.tsx';
import { formatAmount } from '../../parts/values.tsx';
import type { Draft } from './draft.ts';

export function AgentCard({ draft, agentId }: { draft: Draft; agentId: string | undefined }) {
  const { name, tagline, display_name, tags, price_usdc } = draft;
  const price = Number(price_usdc);
  return (
    <aside aria-label="Preview of the card" className="grid gap-2.5">
      <h3 className="text-xs font-medium text-faint">As callers see it</h3>
      <Card className="grid gap-3">
        <div className="flex min-w-0 items-center gap-3">
          <Avatar address={agentId ?? draft.listing_id} picture={draft.picture} className="size-9" />
          <div className="min-w-0">
            <p className="font-semibold break-words">{name || <Blank>Name of the agent</Blank>}</p>
            <p className="text-xs break-words text-faint">by {display_name || 'you'}</p>
          </div>
        </div>
        <p className="text-sm text-faint">{tagline || <Blank>One sentence that says what it does.</Blank>}</p>
        {tags.length > 0 && (
          <div className="flex flex-wrap gap-1.5">
            {tags.map((tag) => (
              <Badge key={tag}>{tag}</Badge>
            ))}
          </div>
        )}
        <div className="flex items-baseline justify-between gap-3 border-t border-line pt-3 text-sm">
          <span className="font-semibold tabular-nums">
            {price_usdc !== '' && Number.isFinite(price) ? formatAmount(price) : <Blank>Price</Blank>}
          </span>
          <span className="text-xs text-faint">per call</span>
        </div>
      </Card>
    </aside>
  );
}

function Blank({ children }: { children: string }) {
  return <span className="font-normal text-faint italic">{children}</span>;
}
