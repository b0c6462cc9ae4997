/** Changes an agent's description, schemas, price and endpoint with one signature. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import type { OwnListing } from '../../../sdk/wire/procedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { SignDialog, type Signing } from '../../parts/sign.tsx';
import { Button, Card, LINK, Note, Skeleton } from '../../parts/ui.tsx';
import { asSentence, formatAmount } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { DetailsFields } from './detailsFields.tsx';
import { checkDraft, type Draft, type DraftErrors, isSame, toInput } from './draft.ts';
import { EndpointFields } from './endpointFields.tsx';
import { heldCollateral, lessUsdc, tierOf } from './own.ts';
import { PriceFields } from './priceFields.tsx';
import { useSchemaErrors } from './schemaErrors.ts';
import { failureOf, runTest } from './testPanel.tsx';

const SchemaFields = lazy(() => import('./schemaFields.tsx'));

interface EditProps {
  listing: OwnListing;
  /** The values on the chain. */
  present: Draft;
  draft: Draft;
  onChange(part: Partial<Draft>): void;
  onReset(): void;
  /** Opens the editor of the test's parameters. */
  onTest(): void;
}

export function Edit({ listing, present, draft, onChange, onReset, onTest }: EditProps) {
  const { data: config } = useQuery(configQuery);
  const schemaErrors = useSchemaErrors(draft);
  const [isSigning, setSigning] = useState(false);
  const errors: DraftErrors = { ...checkDraft(draft, config), ...schemaErrors };
  const isChanged = !isSame(draft, present);
  const held = heldCollateral(listing);
  // The chain checks a price's collateral only if the price changes.
  const isRepriced = draft.price_usdc !== present.price_usdc;
  const tier = config && tierOf(draft.price_usdc, config);
  const missing = tier && isRepriced ? lessUsdc(tier.deposit_usdc, held) : 0;
  // The fields of the test are on another tab. Their faults block only the signature, not the button "Save changes".
  const { test_task: taskFault, test_parameters: parametersFault, ...changeErrors } = errors;
  const faults = Object.entries(changeErrors);
  const testFault = taskFault
    ? `Its task ${taskFault}.`
    : parametersFault
      ? `Its parameters: ${parametersFault}.`
      : null;
  const sent = Object.keys(draft.test_parameters).length;
  const fields = { draft, errors: isChanged ? errors : {}, onChange };

  async function save({ marketplace, wallet, say, onProgress, PublicKey, ...chain }: Signing) {
    const agentId = new PublicKey(listing.agent_id);
    if (missing > 0) {
      // Before the deposit, so that no deposit is made for changes that cannot be saved.
      say('Testing the endpoint');
      const { ok, checks } = await runTest(draft, listing.signing_key);
      if (!ok) throw new Error(`${failureOf(checks).title}: ${checks.find((check) => !check.ok)?.detail}.`);
      say(`Adding ${formatAmount(missing)} of collateral`);
      await chain.topUp(marketplace, { wallet, agentId, amount: parseUsdc(missing) });
      say('Saving the changes');
    }
    const input = chain.parseListingDraft(toInput(draft, listing.metadata_uri), 'The draft');
    // The deposit as shown here, even if the chain now requires another one.
    const maxDeposit = parseUsdc(tier!.deposit_usdc);
    return chain.updateListing(marketplace, { wallet, agentId, draft: input, maxDeposit, onProgress });
  }

  return (
    <div className="grid gap-6">
      {listing.metadata === null && (
        <Note tone="warn" title="The marketplace has no description of this agent">
          Nobody can call this agent until the marketplace has the description whose hash is on the chain. Write it
          again here and save.
        </Note>
      )}
      <Section title="Price">
        <PriceFields {...fields} held={held} />
      </Section>
      <Section title="Details">
        <DetailsFields {...fields} agentId={listing.agent_id} />
      </Section>
      <Section title="Schemas">
        <Suspense fallback={<Skeleton className="h-112" />}>
          <SchemaFields {...fields} />
        </Suspense>
      </Section>
      <Section title="Endpoint">
        <EndpointFields {...fields} />
      </Section>
      {isChanged && <Changes fault={faults[0]} onReset={onReset} onSave={() => setSigning(true)} />}
      {isSigning && (
        <SignDialog
          title="Save the changes"
          about="The endpoint is tested first and must pass. Calls in progress keep their terms."
          rows={[
            ...(isRepriced
              ? ([
                  ['Price', `${formatAmount(listing.price_usdc)} → ${formatAmount(Number(draft.price_usdc))}`],
                  ['Collateral needed', tier ? formatAmount(tier.deposit_usdc) : '–'],
                ] as const)
              : []),
            ...(missing > 0 ? ([['Added with a separate signature', formatAmount(missing)]] as const) : []),
            ['Signed', missing > 0 ? 'Two transactions: the collateral, then the changes' : 'One transaction'],
          ]}
          doing="Saving the changes"
          spends={{ usdc: parseUsdc(missing) }}
          confirm="Sign the changes"
          disabled={testFault !== null || !tier}
          work={save}
          done={() => ['Saved', 'Callers see the changes in a moment.']}
          onClose={() => setSigning(false)}
        >
          {testFault && (
            <Note tone="warn" title="The test has no valid request">
              {testFault}
            </Note>
          )}
          <p className="text-sm text-faint">
            The test sends the task “{draft.test_task}” and {sent === 1 ? '1 parameter' : `${sent} parameters`}.{' '}
            <button type="button" className={LINK} onClick={onTest}>
              Change what it sends
            </button>
          </p>
        </SignDialog>
      )}
    </div>
  );
}

interface ChangesProps {
  /** The first field with an error, and the error. */
  fault: [field: string, error: string] | undefined;
  onReset(): void;
  onSave(): void;
}

function Changes({ fault, onReset, onSave }: ChangesProps) {
  return (
    <div className="sticky bottom-0 z-20 -mx-4 flex flex-wrap items-center justify-end gap-x-4 gap-y-2 border-t border-line bg-paper/95 px-4 py-3 backdrop-blur sm:-mx-6 sm:px-6">
      <p className="text-sm text-faint max-sm:w-full" aria-live="polite">
        {fault ? `${asSentence(fault[0])}: ${fault[1]}` : 'Changes are not signed yet.'}
      </p>
      <Button onClick={onReset}>Discard</Button>
      <Button kind="primary" disabled={fault !== undefined} onClick={onSave}>
        Save changes
      </Button>
    </div>
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Card className="grid gap-5">
      <h2 className="font-semibold">{title}</h2>
      {children}
    </Card>
  );
}
