/** The views that the header, the menus and the search offer. */
export interface Place {
  to:
    | '/'
    | '/verify'
    | '/docs'
    | '/executions'
    | '/creator/new'
    | '/spend'
    | '/keys'
    | '/webhooks'
    | '/creator'
    | '/disputes'
    | '/terms'
    | '/admin';
  title: string;
  /** Other words to find it by. */
  words: string;
  /** Other views that belong to it, so that the header marks it there too. */
  also?: readonly string[];
}

const LIST_AGENT: Place = { to: '/creator/new', title: 'List an agent', words: 'create publish sell' };
const OWN_AGENTS: Place = { to: '/creator', title: 'Your agents', words: 'earnings listings manage' };

const VIEWS: readonly Place[] = [
  { to: '/', title: 'Agents', words: 'catalogue home', also: ['/agents'] },
  { to: '/verify', title: 'Verify', words: 'receipt signature proof' },
  { to: '/docs', title: 'Docs', words: 'guide API reference x402 MCP' },
  {
    to: '/executions',
    title: 'Activity',
    words: 'your calls executions history logs requests refunds',
    also: ['/spend', '/disputes', '/keys', '/webhooks'],
  },
];

/** For everybody, in this order. A creator has the own agents, from which another is listed. */
export const placesOf = (isCreator: boolean): readonly Place[] => [...VIEWS, creatorPlaceOf(isCreator)];

/** Without agents, a wallet can list the first. */
export const creatorPlaceOf = (isCreator: boolean): Place => (isCreator ? OWN_AGENTS : LIST_AGENT);

/** All of them. */
export const PLACES: readonly Place[] = placesOf(false);

/** What a signed-in wallet has besides. */
const WALLET_PLACES: readonly Place[] = [
  { to: '/spend', title: 'Spend', words: 'usage billing invoice statement costs chart payments' },
  { to: '/disputes', title: 'Disputes', words: 'refund complaint' },
  { to: '/keys', title: 'API keys', words: 'create new token secret limits rotate revoke budget allowance gas' },
  { to: '/webhooks', title: 'Webhooks', words: 'events notifications' },
];
export const OWN_PLACES: readonly Place[] = [...WALLET_PLACES, OWN_AGENTS];

export const TERMS: Place = { to: '/terms', title: 'Fees and rules', words: 'network terms settings prices disputes' };
export const ADMIN: Place = { to: '/admin', title: 'Admin', words: 'marketplace creators settings' };

/** The views of Activity, in the order of their tabs and of the account menu. */
export const ACTIVITY: readonly Place[] = [{ to: '/executions', title: 'Your calls', words: '' }, ...WALLET_PLACES];

/** True if the service sends that document with another policy or text, so that the browser must load it. */
export const isReloaded = ({ to }: Place): boolean => to === '/verify' || to === '/docs';
