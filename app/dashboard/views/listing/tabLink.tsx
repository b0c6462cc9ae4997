/** Leads a creator to a tab of an own agent. */
import type { ReactNode } from 'react';
import { TextLink } from '../../parts/links.tsx';
import type { ListingSearch } from './search.ts';

interface TabLinkProps {
  agentId: string;
  search?: ListingSearch;
  children: ReactNode;
}

export const TabLink = ({ agentId, search = {}, children }: TabLinkProps) => (
  <TextLink to="/creator/$agentId" params={{ agentId }} search={search}>
    {children}
  </TextLink>
);

/** To its collateral. */
export const TopUp = ({ agentId }: { agentId: string }) => (
  <TabLink agentId={agentId} search={{ tab: 'settings' }}>
    Top up
  </TabLink>
);
