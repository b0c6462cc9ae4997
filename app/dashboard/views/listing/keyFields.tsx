/** Chooses the key that signs an agent's results: made here, from a file, or held elsewhere and proved. Replaces it, too. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OwnListing } from '../../../sdk/wire/procedures.ts';
import { Choice } from '../../parts/choice.tsx';
import { CardHead } from '../../parts/heads.tsx';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { SignButton } from '../../parts/sign.tsx';
import { Button, Card, Facts, Field, Input, Note, TextArea } from '../../parts/ui.tsx';
import { Code, formatSpan, Id } from '../../parts/values.tsx';
import { explain } from '../../service.ts';
import {
  type HeldKey,
  makeKey,
  proofCommand,
  proofMessage,
  readKeyFile,
  readProof,
  saveKey,
  toSigningKey,
} from './signingKey.ts';

interface KeyFieldsProps {
  agentName: string;
  /** Address of the listing that gets the key; undefined until known. */
  agentId: string | undefined;
  value: HeldKey | null;
  /** Address of the key that the draft had before this page was loaded. */
  expected: string | null;
  onChange(key: HeldKey | null): void;
}

type Way = 'make' | 'file' | 'proof';

const WAYS: readonly (readonly [Way, title: string, about: string])[] = [
  ['make', 'Create a key here', 'In this browser. You save it once as a file; it is never sent.'],
  ['file', 'Use a key file', 'A file that you have, read in this browser only.'],
  ['proof', 'Only the public key', 'The key stays where it is. You sign a proof with it and paste the signature.'],
];

export function KeyFields(props: KeyFieldsProps) {
  const { value, expected, onChange } = props;
  const [way, setWay] = useState<Way>(expected && !value ? 'file' : value?.kind === 'proof' ? 'proof' : 'make');
  function choose(next: Way) {
    setWay(next);
    if (value) onChange(null);
  }
  return (
    <div className="grid gap-6">
      {expected && !value && (
        <Note tone="warn" title="Open the key’s file again">
          This draft uses the key <Id value={expected} />. The page does not keep keys after a reload. Choose its file,
          or another key.
        </Note>
      )}
      <div role="radiogroup" aria-label="Where the key comes from" className="grid gap-3 sm:grid-cols-3">
        {WAYS.map(([name, title, about]) => (
          <Choice key={name} name="way" title={title} isChosen={way === name} onChoose={() => choose(name)}>
            {about}
          </Choice>
        ))}
      </div>
      {way === 'make' && <MakeKey {...props} />}
      {way === 'file' && <KeyFile {...props} />}
      {way === 'proof' && <Proof {...props} />}
    </div>
  );
}

function MakeKey({ value, agentName, onChange }: KeyFieldsProps) {
  const key = value?.kind === 'secret' ? value : null;
  if (!key) {
    return (
      <div>
        <Button kind="primary" onClick={() => onChange(makeKey())}>
          Create a signing key
        </Button>
      </div>
    );
  }
  return (
    <Card className="grid gap-4">
      <Held address={key.address} />
      {key.isSaved ? (
        <Note tone="good" title="Saved as a file">
          Keep it where only your agent’s server can read it. Nobody can restore it.
        </Note>
      ) : (
        <Note tone="warn" title="Save it now">
          Your server signs every result with this key. It exists on this page only, and is lost when you leave.
        </Note>
      )}
      <div>
        <Button kind={key.isSaved ? 'plain' : 'primary'} onClick={() => onChange(saveKey(key, agentName))}>
          {key.isSaved ? 'Save again' : 'Save the key file'}
        </Button>
      </div>
    </Card>
  );
}

function KeyFile({ value, expected, onChange }: KeyFieldsProps) {
  const { mutate, reset, error } = useMutation({
    mutationFn: readKeyFile,
    networkMode: 'always',
    // Its result has the secret key.
    gcTime: 0,
    onSuccess: onChange,
    onError: () => onChange(null),
  });
  return (
    <div className="grid gap-4">
      <Field
        label="Key file"
        hint="A JSON array of 64 bytes, as keys new and solana-keygen write it."
        error={error && explain(error)}
      >
        {(props) => (
          <input
            {...props}
            type="file"
            accept="application/json,.json"
            onChange={({ target: { files } }) => (files?.[0] ? mutate(files[0]) : reset())}
            className="w-full rounded-lg border border-strong bg-raised text-sm file:mr-3 file:min-h-10 file:border-0 file:bg-sunken file:px-4 file:text-ink"
          />
        )}
      </Field>
      {value && <Held address={value.address} />}
      {value && expected && value.address !== expected && (
        <Note tone="warn">This is not the key of the draft, {expected}, and replaces it.</Note>
      )}
    </div>
  );
}

function Proof({ agentId, agentName, value, onChange }: KeyFieldsProps) {
  const [publicKey, setPublicKey] = useState(value?.address ?? '');
  const [proof, setProof] = useState('');
  const { mutate: check, error } = useMutation({
    mutationFn: () => readProof(publicKey, proof, agentId!),
    networkMode: 'always',
    onSuccess: onChange,
    onError: () => onChange(null),
  });
  const { data: message } = useQuery({
    queryKey: ['proof-message', agentId],
    enabled: agentId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => proofMessage(agentId!),
  });
  return (
    <div className="grid gap-5">
      <Input
        label="Public key"
        hint="Base58, 32 bytes."
        spellCheck={false}
        autoComplete="off"
        value={publicKey}
        onChange={({ target }) => setPublicKey(target.value)}
      />
      <div className="grid gap-1.5">
        <h3 className="text-sm font-medium">Sign these bytes with the key</h3>
        {message ? (
          <Code text={message} label="Bytes to sign, in hex" />
        ) : (
          <p className="text-sm text-faint">Connect the wallet that lists the agent: the bytes name the listing.</p>
        )}
      </div>
      {message && (
        <details className="text-sm">
          <summary>A command that signs them with a key file</summary>
          <div className="mt-2">
            <Code text={proofCommand(message, agentName)} label="Command that signs the bytes" />
          </div>
        </details>
      )}
      <TextArea
        label="Proof"
        hint="The signature over those bytes: 64 bytes, in hex or base58."
        spellCheck={false}
        className="font-mono"
        value={proof}
        error={error && explain(error)}
        onChange={({ target }) => setProof(target.value)}
      />
      <div>
        <Button onClick={() => check()} disabled={!agentId || publicKey === '' || proof === ''}>
          Check the proof
        </Button>
      </div>
      {value?.kind === 'proof' && <Held address={value.address} />}
    </div>
  );
}

function Held({ address }: { address: string }) {
  return (
    <div className="text-sm">
      <p className="text-faint">Public key, stored in the listing</p>
      <Id value={address} full />
    </div>
  );
}

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
