/** Adds, changes and deletes an endpoint, replaces its secret, and shows a new secret once. */
import { useState } from 'react';
import type { EventType } from '../../../sdk/wire/events.ts';
import type { WebhookEndpoint } from '../../../sdk/wire/wire.ts';
import { ActDialog } from '../../parts/act.tsx';
import { ShownOnce } from '../../parts/shownOnce.tsx';
import { Checkbox, Input } from '../../parts/ui.tsx';
import { Code } from '../../parts/values.tsx';
import { request } from '../../service.ts';
import { useSession } from '../../wallet/session.ts';
import { eventGroups, useMeanings } from './eventGroups.ts';

interface MadeProps {
  onClose(): void;
  /** Gets the new secret. */
  onMade(secret: string): void;
}

interface EndpointProps extends MadeProps {
  endpoint?: WebhookEndpoint;
  /** The events at first; all if there are none. */
  chosen?: EventType[];
}

/** Changes `endpoint`, or adds a new one without it. */
export function EndpointDialog({ endpoint, chosen = endpoint?.event_types ?? [], onClose, onMade }: EndpointProps) {
  const { isCreator } = useSession();
  const meaningOf = useMeanings();
  // A test is always sent.
  const choices = eventGroups(isCreator).map(({ name, types }) => ({
    name,
    types: types.filter((type) => type !== 'webhook.test'),
  }));
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [isAll, setAll] = useState(chosen.length === 0);
  const [types, setTypes] = useState(chosen);
  async function save(): Promise<string | null> {
    const body = { url, event_types: isAll ? [] : types };
    if (!endpoint) return (await request('createWebhook', { body })).secret;
    await request('updateWebhook', { endpoint_id: endpoint.endpoint_id, body });
    return null;
  }
  const toggle = (type: EventType, isOn: boolean) =>
    setTypes((before) => (isOn ? [...before, type] : before.filter((one) => one !== type)));
  return (
    <ActDialog
      title={endpoint ? 'Change the endpoint' : 'Add an endpoint'}
      confirm={endpoint ? 'Save' : 'Add endpoint'}
      disabled={url === '' || (!isAll && types.length === 0)}
      failed="It was not saved"
      work={save}
      done={(secret) => secret === null && ['The endpoint is changed', 'The change applies to new events.']}
      onClose={onClose}
      onDone={(secret) => secret !== null && onMade(secret)}
    >
      <Input
        label="URL"
        type="url"
        required
        maxLength={2_048}
        placeholder="https://example.com/webhooks"
        hint="An https address of your server. Redirects are not followed."
        value={url}
        onChange={(event) => setUrl(event.target.value)}
      />
      <fieldset className="grid gap-2.5">
        <legend className="mb-2 text-sm font-medium">Events</legend>
        <Checkbox
          label="All events"
          hint="Including types that are added later."
          checked={isAll}
          onChange={(event) => setAll(event.target.checked)}
        />
      </fieldset>
      {!isAll &&
        choices.map(({ name, types: ofGroup }) => (
          <fieldset key={name} className="grid gap-2.5">
            <legend className="mb-2 text-sm font-medium">{name}</legend>
            {ofGroup.map((type) => (
              <Checkbox
                key={type}
                label={type}
                hint={meaningOf(type)}
                checked={types.includes(type)}
                onChange={(event) => toggle(type, event.target.checked)}
              />
            ))}
          </fieldset>
        ))}
    </ActDialog>
  );
}

export function RotateDialog({ endpoint, onClose, onMade }: MadeProps & { endpoint: WebhookEndpoint }) {
  return (
    <ActDialog
      title="Replace the signing secret?"
      about="For 24 hours each webhook is signed with the old and the new secret, so that you can replace it without losing a webhook."
      confirm="Replace"
      failed="It was not replaced"
      work={() => request('rotateWebhookSecret', { endpoint_id: endpoint.endpoint_id })}
      onClose={onClose}
      onDone={({ secret }) => onMade(secret)}
    />
  );
}

export function DeleteDialog({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose(): void }) {
  return (
    <ActDialog
      title="Delete the endpoint?"
      about="Nothing is sent there any more, and its log is deleted too."
      confirm="Delete"
      danger
      failed="It was not deleted"
      work={() => request('deleteWebhook', { endpoint_id: endpoint.endpoint_id })}
      done={() => ['The endpoint is deleted', 'Nothing is sent there any more.']}
      onClose={onClose}
    >
      <code className="font-mono text-sm break-all">{endpoint.url}</code>
    </ActDialog>
  );
}

const RECEIVER = `import { Webhook } from 'standardwebhooks';

// The body as text, before it is parsed.
const event = new Webhook(process.env.WEBHOOK_SECRET).verify(body, headers);
// Answer any 2xx status within 10 seconds. An event may come twice.`;

export function SecretDialog({ secret, onClose }: { secret: string; onClose(): void }) {
  return (
    <ShownOnce
      text={secret}
      what="secret"
      title="Your signing secret"
      about="Copy it now and keep it like a password. Your server verifies with it that a webhook is from this marketplace."
      loss="The secret cannot be shown again. You can replace it at any time."
      onClose={onClose}
    >
      <div>
        <h3 className="mb-2 text-sm font-medium">Verify a webhook</h3>
        <Code text={RECEIVER} label="Verifying a webhook in TypeScript" />
      </div>
    </ShownOnce>
  );
}
