/** A draft as callers will see it in the catalogue. */
import { CardPreview } from '../catalogue/card.tsx';
import type { Draft } from './draft.ts';

export function DraftCard({ draft, agentId }: { draft: Draft; agentId: string | undefined }) {
  const { name, tagline, display_name, picture, tags, price_usdc } = draft;
  return (
    <CardPreview
      {...(!Number(price_usdc) && { price: '–' })}
      agent={{
        agent_id: agentId ?? draft.listing_id,
        name: name || 'Name of the agent',
        tagline: tagline || 'One sentence that says what it does.',
        tags,
        price_per_call_usdc: Number(price_usdc) || 0,
        total_executions: 0,
        success_rate: 0,
        avg_execution_time_ms: 0,
        open_disputes: 0,
        creator: { pubkey: '', verified: false, display_name: display_name || 'you' },
        picture_path: picture || null,
        status: 'active',
        health: { status: 'ok', success_rate_recent: null, p50_ms: null, p95_ms: null },
      }}
    />
  );
}
