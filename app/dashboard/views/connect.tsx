/**
 * A program, such as an MCP host, asks for access (OAuth 2.1). The page names it and the place to which the key goes, the
 * person signs a budget, and the browser returns to the program with a code for the key.
 */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { MarketplaceError } from '../../sdk/client/error.ts';
import type { ProcedureOutput } from '../../sdk/wire/procedures.ts';
import { SignedIn } from '../parts/connect.tsx';
import { NewToThis } from '../parts/explained.tsx';
import { fundsQuery } from '../parts/funds.tsx';
import { Unread } from '../parts/trouble.tsx';
import { Button, Card, Facts, Note, PageHead, Spinner } from '../parts/ui.tsx';
import { formatUnits, shorten } from '../parts/values.tsx';
import { call, explain } from '../service.ts';
import { useSession } from '../wallet/session.ts';
import { useConnected, useShared } from '../wallet/wallets.ts';
import { CreateDialog } from './keys/create.tsx';
import type { MadeKey } from './keys/makeKey.ts';
import { useWalletKeys } from './keys/money.ts';
import { registerMade } from './keys/shown.tsx';

type Asked = ProcedureOutput<'oauth.request'>;

/** Of a key's name. */
const MAX_NAME = 64;

/** The query with which the document was loaded: the router may write values in another form. */
function loadedQuery(): string {
  if (typeof performance === 'undefined' || typeof location === 'undefined') return '';
  const [entry] = performance.getEntriesByType('navigation');
  return new URL(entry?.name ?? location.href).search.slice(1);
}

/** The browser is not sent back: the address to return to may be the fault. */
const isRefused = (error: unknown): boolean => error instanceof MarketplaceError && error.status === 400;

export default function View() {
  const [query] = useState(loadedQuery);
  const read = useQuery({ queryKey: ['oauth-request', query], queryFn: () => call('oauth.request', { query }) });
  const { data: asked, error } = read;
  return (
    <>
      <PageHead
        title={`Connect ${asked ? placeOf(asked) : 'a program'} to Agent Marketplace`}
        about={
          <>
            It asks for an API key: a secret with which it calls agents and pays them from your wallet. You decide how
            much it may spend. <NewToThis />
          </>
        }
      />
      {isRefused(error) && (
        <Note tone="bad" title="The program’s request is not valid, so nothing can be connected">
          {explain(error)}
        </Note>
      )}
      {!isRefused(error) && <Unread query={read} what="The program’s request" className="h-60" />}
      {asked && <Request asked={asked} query={query} />}
    </>
  );
}

function Request({ asked, query }: { asked: Asked; query: string }) {
  const { wallet } = useSession();
  const connected = useConnected();
  const isShared = useShared();
  const { data: funds } = useQuery(fundsQuery(wallet ?? undefined));
  return (
    <div className="grid gap-4">
      <Card>
        <Facts
          rows={[
            [
              'Name it gives itself',
              asked.name === null ? (
                'none'
              ) : (
                <span key="name">
                  <bdi>{asked.name}</bdi> <span className="text-faint">(not checked)</span>
                </span>
              ),
            ],
            [
              'The key goes to',
              <span key="host">
                <strong className="font-mono break-all">{asked.redirect_host}</strong>
                {asked.is_loopback && ' (this computer)'}
              </span>,
            ],
            Boolean(wallet) && [
              'Pays from',
              [
                connected?.account.address === wallet &&
                  `${connected?.wallet.name}${isShared ? ' (shared test wallet, also used by others)' : ''}`,
                shorten(wallet ?? ''),
                funds && formatUnits(funds.usdc ?? 0n),
              ]
                .filter(Boolean)
                .join(', '),
            ],
            [
              'It may',
              <span key="may" className="grid gap-1">
                <span>
                  Call agents and pay them, within limits that you set next. It chooses the agents, maybe its own: set
                  only what you could lose.
                </span>
                <span>
                  Read and delete the tasks, parameters and results of all calls that your wallet has paid for, also
                  earlier ones{isShared && ' and those of others who use this test wallet'}. Read the wallet’s daily
                  sums.
                </span>
              </span>,
            ],
            [
              'It cannot',
              'Spend more than your limits, or change them. Read what your own agents receive from others.',
            ],
            [
              'Next',
              `You set a budget and an expiry${isShared ? '; the shared test wallet signs them without asking' : ', and sign them in your wallet'}. ${asked.redirect_host} gets a new API key, and you return to it. You can change or revoke the key at any time, under “API keys”.`,
            ],
          ]}
        />
      </Card>
      <Note
        tone="warn"
        title={`Continue only if you have just started this in ${placeOf(asked)} yourself${asked.is_loopback ? '' : ', and trust that web address'}`}
      >
        {asked.is_loopback
          ? 'The program runs on this computer. Nobody has checked its name.'
          : 'Anybody can choose a name, so only the web address counts.'}
      </Note>
      <SignedIn why="The key belongs to a wallet and spends its USDC, within limits that you sign.">
        {wallet && <Consent key={wallet} wallet={wallet} asked={asked} query={query} />}
      </SignedIn>
      {!wallet && <Refuse asked={asked} />}
    </div>
  );
}

const Refuse = ({ asked }: { asked: Asked }) => (
  <div>
    <Button onClick={() => location.assign(asked.refused_url)}>Do not connect</Button>
  </div>
);

interface ConsentProps {
  wallet: string;
  asked: Asked;
  query: string;
}

function Consent({ wallet, asked, query }: ConsentProps) {
  const [isOpen, setOpen] = useState(false);
  const { listed, money, chain } = useWalletKeys(wallet);
  const {
    mutate: finish,
    variables: made,
    error,
  } = useMutation({
    mutationFn: async (key: MadeKey) => {
      await registerMade(key, wallet);
      const { approved_url } = await call('oauth.approve', { query, api_key: key.apiKey });
      location.assign(approved_url);
    },
    networkMode: 'always',
    // It was given the secret of the key.
    gcTime: 0,
  });
  if (made) {
    return error === null ? (
      <Spinner label={`Returning to ${asked.redirect_host} …`} />
    ) : (
      <Note tone="bad" title="The program has not received its key yet">
        <p>{explain(error)}</p>
        <Button small className="mt-3 text-ink" onClick={() => finish(made)}>
          Try again
        </Button>
      </Note>
    );
  }
  return (
    <>
      {listed.error && !listed.data && <Unread query={listed} what="Your API keys" />}
      {chain.error && !money && <Unread query={chain} what="The balances on the chain" />}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" disabled={!money} onClick={() => setOpen(true)}>
          Set a budget
        </Button>
        <Refuse asked={asked} />
      </div>
      {money && (
        <CreateDialog
          open={isOpen}
          money={money}
          title={`Budget of ${keyName(asked)}`}
          confirm="Sign and connect"
          initialName={keyName(asked)}
          onClose={() => setOpen(false)}
          onMade={finish}
        />
      )}
    </>
  );
}

/** Where the person started it, as in a sentence. */
const placeOf = ({ redirect_host, is_loopback }: Asked): string =>
  is_loopback ? 'a program on this computer' : redirect_host;

/** Such as `Claude (claude.ai)`. */
function keyName({ name, redirect_host, is_loopback }: Asked): string {
  const place = is_loopback ? 'this computer' : redirect_host;
  const whole = name === null ? redirect_host : `${name} (${place})`;
  // Not in the middle of a character.
  return whole.slice(0, MAX_NAME).replace(/\p{Surrogate}$/u, '');
}
