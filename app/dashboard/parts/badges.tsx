/** Badges with the same meaning everywhere. */
import { Badge } from './ui.tsx';

/** The marketplace has verified the creator's identity. */
export function Verified() {
  return (
    <Badge tone="accent" title="The marketplace has verified this creator's identity">
      <svg viewBox="0 0 16 16" className="size-3" fill="none" stroke="currentColor" strokeWidth="2" aria-hidden="true">
        <path d="m3 8.5 3.2 3L13 5" strokeLinecap="round" strokeLinejoin="round" />
      </svg>
      verified
    </Badge>
  );
}
