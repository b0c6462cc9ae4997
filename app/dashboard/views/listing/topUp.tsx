/** Leads a creator to the collateral of an agent. */
import { Link } from '@tanstack/react-router';

export const TopUp = ({ agentId }: { agentId: string }) => (
  <Link
    to="/creator/$agentId"
    params={{ agentId }}
    search={{ tab: 'settings' }}
    className="text-accent underline underline-offset-2"
  >
    Top up
  </Link>
);
