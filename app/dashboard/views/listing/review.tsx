/** A review before signing, the signature itself, and the resulting agent. */
import { hexToBytes } from '@noble/hashes/utils.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { PROGRAM_WORDS } from '../../parts/explained.tsx';
import { Anchor } from '../../parts/links.tsx';
import { SignButton, type Signing } from '../../parts/sign.tsx';
import { Button, buttonStyle, Card, Facts, Note, Skeleton } from '../../parts/ui.tsx';
import { Code, formatAmount, formatSpan, Id } from '../../parts/values.tsx';
import { BASE_URL, configQuery } from '../../service.ts';
import { SLASH_MULTIPLE } from '../../wallet/programTerms.ts';
import { DisputeWebhook } from '../webhooks/disputeWebhook.tsx';
import { AccountDeposits, useListingDeposits } from './costs.tsx';
import { type Draft, toInput } from './draft.ts';
import { tierOf } from './own.ts';
import { type HeldKey, keyFileName, toSigningKey } from './signingKey.ts';
import { type OpenStep, OpenSteps } from './steps.tsx';

export interface Listed {
  agent_id: string;
  name: string;
  /** Signature of the transaction; null if the listing was found on the chain. */
  signature: string | null;
  deposit_usdc: number;
  endpoint: string;
  isShown: boolean;
}

interface ReviewProps {
  draft: Draft;
  signingKey: HeldKey | null;
  agentId: string | undefined;
  isTested: boolean;
  /** Incomplete steps. */
  open: OpenStep[];
  onListed(listed: Listed): void;
}

export function Review({ draft, signingKey, agentId, isTested, open, onListed }: ReviewProps) {
  const { data: config } = useQuery(configQuery);
  const deposits = useListingDeposits();
  const tier = config && tierOf(draft.price_usdc, config);
  if (!config) return <Skeleton className="h-80" />;
  const deposit = tier ? formatAmount(tier.deposit_usdc) : '–';
  const rows = [
    ['Agent', draft.name || '–'],
    ['Price of one call', draft.price_usdc ? formatAmount(Number(draft.price_usdc)) : '–'],
    ['Collateral', <strong key="deposit">{deposit}</strong>],
    [
      'When it can shrink',
      `If the admin, who decides alone, upholds a dispute against you: by an amount of its choice, at most ${SLASH_MULTIPLE} times the price of the call, never by more than the collateral.`,
    ],
    [
      'When it returns',
      `${formatSpan(config.longest_span_seconds, { units: 3 })} after you delist, once no dispute is open.`,
    ],
    ['Signing key', signingKey ? <Id key="key" value={signingKey.address} /> : '–'],
    [
      'Endpoint',
      <code key="endpoint" className="font-mono text-[0.8125rem] break-all">
        {draft.endpoint || '–'}
      </code>,
    ],
    ['In addition', <AccountDeposits key="deposits" isExact />],
  ] as const;

  async function list({ marketplace, wallet, say, onProgress, ...chain }: Signing): Promise<Listed> {
    const listing = chain.program.findListing(wallet.publicKey, hexToBytes(draft.listing_id));
    const made = { name: draft.name, deposit_usdc: tier?.deposit_usdc ?? 0, endpoint: draft.endpoint };
    // An earlier attempt with unknown outcome may have created it.
    const known = await chain.readListing(marketplace.connection, listing).catch(() => null);
    if (known) {
      say('The agent is listed already.');
      return { ...made, agent_id: listing.toBase58(), signature: null, isShown: true };
    }
    const { agent_id, signature } = await chain.createListing(marketplace, {
      wallet,
      signingKey: await toSigningKey(signingKey!),
      draft: chain.parseListingDraft(toInput(draft), 'The draft'),
      listingId: hexToBytes(draft.listing_id),
      // The deposit as shown here, even if the chain now requires another one.
      maxDeposit: parseUsdc(tier!.deposit_usdc),
      onProgress,
    });
    say('Waiting until the marketplace shows it');
    return { ...made, agent_id, signature, isShown: await chain.untilShown(marketplace, agent_id) };
  }

  return (
    <div className="grid gap-6">
      {open.length > 0 && <OpenSteps title="Not complete yet" steps={open} />}
      {open.length === 0 && !isTested && (
        <Note tone="warn">
          The endpoint was not tested with this description. It is tested before you sign, and must pass.
        </Note>
      )}
      <Card>
        <Facts rows={rows} />
      </Card>
      <Note tone="warn">The escrow program {PROGRAM_WORDS}</Note>
      <div>
        <SignButton
          button={tier ? `Deposit ${deposit} and list` : 'Deposit and list'}
          kind="primary"
          closed={open.length > 0}
          title={`List ${draft.name}`}
          about="The endpoint is tested once more; then your wallet signs one transaction."
          rows={[
            ['Collateral', deposit],
            ['From', 'Your USDC account'],
            ['Listing', agentId ? <Id key="id" value={agentId} /> : '–'],
          ]}
          doing={`Depositing ${deposit} and listing the agent`}
          spends={
            tier
              ? {
                  usdc: parseUsdc(tier.deposit_usdc),
                  // The network fee comes on top.
                  lamports: deposits ? deposits.vault + deposits.kept : 0n,
                }
              : undefined
          }
          confirm={`Sign and deposit ${deposit}`}
          work={list}
          onDone={onListed}
        />
      </div>
    </div>
  );
}

/** Shown after the last step: links to the agent, and what to do next. */
export function Live({ listed, onAnother }: { listed: Listed; onAnother(): void }) {
  return (
    <div className="grid gap-6">
      <Note tone="good" title={`${listed.name} is live`}>
        {listed.isShown
          ? 'Callers find it in the catalogue and can buy from it now.'
          : 'It is on the chain; the catalogue shows it in a moment.'}
      </Note>
      <Card>
        <Facts
          rows={[
            ['Agent', <Id key="id" value={listed.agent_id} kind="address" />],
            listed.signature !== null && ['Transaction', <Id key="tx" value={listed.signature} kind="tx" />],
            ['Collateral', formatAmount(listed.deposit_usdc)],
          ]}
        />
        <div className="mt-5 flex flex-wrap gap-2">
          <Link to="/agents/$agentId" params={{ agentId: listed.agent_id }} className={buttonStyle('primary')}>
            See its page
          </Link>
          <Link to="/creator/$agentId" params={{ agentId: listed.agent_id }} className={buttonStyle()}>
            Manage it
          </Link>
          <Button onClick={onAnother}>List another</Button>
        </div>
      </Card>
      <Card className="grid gap-3">
        <h2 className="font-semibold">What to do next</h2>
        <ul className="grid list-disc gap-2 pl-5 text-sm text-faint">
          <li>
            Keep your server at {listed.endpoint} running: each unanswered call is refunded and lowers the success rate.
            Pause the agent before you stop it.
          </li>
          <li>Keep a backup of the file of the signing key where nobody else can read it.</li>
          <li>Buy one call yourself on the agent’s page, and verify its result.</li>
        </ul>
      </Card>
      <DisputeWebhook />
    </div>
  );
}

/** How to get a server and start it with a key file. Shown in the steps that need one. */
export function ServerHint({ endpoint, agentName }: { endpoint: string; agentName: string }) {
  const port = URL.canParse(endpoint) ? new URL(endpoint).port || '8080' : '8080';
  const command = `node creator.mjs ${keyFileName(agentName)} ${port} ${BASE_URL}`;
  return (
    <details className="text-sm">
      <summary>No server yet? Start from one file</summary>
      <div className="mt-2 grid gap-2">
        <p className="text-faint">
          <Anchor href="/examples/creator.mjs">creator.mjs</Anchor>,{' '}
          <Anchor href="/examples/creator.py">creator.py</Anchor> and{' '}
          <Anchor href="/examples/creator.go">creator.go</Anchor> are whole servers. They sign with the key file that
          you save in the step “Signing key”. The <Anchor href="/docs#creators">guide</Anchor> explains each step.
        </p>
        <Code text={command} label="Command that starts the example" />
      </div>
    </details>
  );
}
