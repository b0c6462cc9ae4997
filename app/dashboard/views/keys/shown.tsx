/** A new key, shown once, with a first call. Closing it asks for confirmation. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { hashApiKey } from '../../../sdk/receipt/apiKey.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { Button, Note, Skeleton } from '../../parts/ui.tsx';
import { Code, Copy, Time } from '../../parts/values.tsx';
import { call, explain, queryClient } from '../../service.ts';
import type { MadeKey } from './create.tsx';
import { firstAgentQuery, firstCurl } from './firstCall.ts';

export function ShownKey({ made, wallet, onClose }: { made: MadeKey; wallet: string; onClose(): void }) {
  const { apiKey, name, scopes, replacedUntil } = made;
  const { data: agent, isPending } = useQuery(firstAgentQuery);
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const copied = () => setCopied(true);
  return (
    <>
      <AskBeforeLeaving when={!isCopied} title="Leave without the key?">
        You have not copied the key, and it cannot be shown again.
      </AskBeforeLeaving>
      <Dialog
        open
        onOpenChange={() => (isCopied ? onClose() : setAsking(true))}
        title={`Your key "${name}"`}
        about="Copy it now and keep it like a password. You will not see it again: the marketplace knows only its hash."
      >
        {/* Copying by hand counts too. */}
        <div className="grid grid-cols-1 gap-5" onCopy={copied}>
          <div className="flex items-start justify-between gap-3 rounded-lg bg-accent-soft p-4">
            <code className="min-w-0 font-mono text-sm break-all">{apiKey}</code>
            <Copy text={apiKey} onCopied={copied} />
          </div>
          {made.unregistered && <Register made={made} wallet={wallet} />}
          {replacedUntil && (
            <Note>
              The key that it replaces works until <Time at={replacedUntil} />.
            </Note>
          )}
          <div>
            <h3 className="mb-2 text-sm font-medium">
              {agent && scopes.includes('execute') ? `A first call, to ${agent.name}` : 'A first request'}
            </h3>
            {isPending ? (
              <Skeleton className="h-32" />
            ) : (
              <Code text={firstCurl(apiKey, scopes, agent ?? null)} label="A first request with curl" />
            )}
          </div>
          {isAsking && !isCopied && (
            <Note tone="warn" title="You have not copied the key">
              The key cannot be shown again, and without it you cannot use it.
              <div className="mt-3 flex flex-wrap gap-2">
                <Button small onClick={() => setAsking(false)}>
                  Stay
                </Button>
                <Button small kind="danger" onClick={onClose}>
                  Close without it
                </Button>
              </div>
            </Note>
          )}
          <div className="flex justify-end">
            <Button kind={isCopied ? 'primary' : 'plain'} onClick={() => (isCopied ? onClose() : setAsking(true))}>
              Done
            </Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}

/** The chain may know the key before the marketplace does. Registering a known key changes nothing. */
function Register({ made, wallet }: { made: MadeKey; wallet: string }) {
  const [state, setState] = useState<{ busy: boolean; done: boolean; error: string | null }>({
    busy: false,
    done: false,
    error: made.problem,
  });
  async function register() {
    setState({ busy: true, done: false, error: null });
    try {
      const { allowedIps, allowedAgents } = made.unregistered ?? {};
      await call('keys.register', {
        wallet,
        key_hash: hashApiKey(made.apiKey),
        name: made.name,
        scopes: made.scopes,
        ...(allowedIps && { allowed_ips: allowedIps }),
        ...(allowedAgents && { allowed_agents: allowedAgents }),
      });
      setState({ busy: false, done: true, error: null });
      await queryClient.invalidateQueries();
    } catch (error) {
      setState({ busy: false, done: false, error: explain(error) });
    }
  }
  if (state.done) return <Note tone="good">The marketplace knows the key now.</Note>;
  return (
    <Note tone="warn" title="The key is not registered yet">
      <p>{state.error ?? 'Registering the key …'}</p>
      <Button small className="mt-3 text-ink" busy={state.busy} onClick={register}>
        Register the key again
      </Button>
    </Note>
  );
}
