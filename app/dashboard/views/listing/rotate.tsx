/** Replaces the signing key of a running agent. */
import { useState } from 'react';
import type { OwnListing } from '../../../sdk/wire/procedures.ts';
import { CardHead } from '../../parts/heads.tsx';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { SignButton } from '../../parts/sign.tsx';
import { Button, Card, Facts } from '../../parts/ui.tsx';
import { formatSpan, Id } from '../../parts/values.tsx';
import { KeyFields } from './keyFields.tsx';
import { type HeldKey, toSigningKey } from './signingKey.ts';

export function RotateCard({ listing }: { listing: OwnListing }) {
  const [isRotating, setRotating] = useState(false);
  const [key, setKey] = useState<HeldKey | null>(null);
  const isUnsaved = key?.kind === 'secret' && !key.isSaved;
  function end() {
    setRotating(false);
    setKey(null);
  }
  return (
    <Card className="grid gap-5">
      <CardHead
        title="Signing key"
        about="Results are paid only with this key’s signature. Rotate it at once if somebody else may have the key."
      />
      <Facts rows={[['Public key', <Id key="key" value={listing.signing_key} full />]]} />
      {!isRotating && listing.status !== 'delisted' && (
        <div>
          <Button onClick={() => setRotating(true)}>Rotate the key</Button>
        </div>
      )}
      {isRotating && (
        <div className="grid gap-6 border-t border-line pt-5">
          <ol className="grid list-decimal gap-1.5 pl-5 text-sm text-faint">
            <li>Create the new key, and save it.</li>
            <li>Add it to your server before the old key, and restart the server.</li>
            <li>Sign the rotation. Calls opened after it need the new key.</li>
            <li>
              Remove the old key after {formatSpan(listing.timeout_seconds)}, when the last call that needs it has
              ended.
            </li>
          </ol>
          <KeyFields
            agentName={`${listing.name ?? 'agent'}-new`}
            agentId={listing.agent_id}
            value={key}
            expected={null}
            onChange={setKey}
          />
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={end}>Cancel</Button>
            <SignButton
              button="Rotate to this key"
              kind="primary"
              closed={!key || isUnsaved}
              title="Rotate the signing key"
              about="From the next call on, results must be signed with the new key."
              rows={[
                ['Old key', <Id key="old" value={listing.signing_key} />],
                ['New key', key ? <Id key="new" value={key.address} /> : '–'],
              ]}
              doing="Replacing the signing key"
              confirm="Sign the rotation"
              work={async ({ marketplace, wallet, PublicKey, replaceSigningKey }) =>
                replaceSigningKey(marketplace, {
                  wallet,
                  agentId: new PublicKey(listing.agent_id),
                  signingKey: await toSigningKey(key!),
                })
              }
              done={() => ['The key is rotated', 'Results of new calls must be signed with it.']}
              onDone={end}
            />
          </div>
        </div>
      )}
      <AskBeforeLeaving when={key !== null} title="Leave before the key is rotated?">
        {isUnsaved
          ? 'The new key has not been saved and is lost when you leave.'
          : 'The rotation is not signed yet, so the old key stays valid.'}
      </AskBeforeLeaving>
    </Card>
  );
}
