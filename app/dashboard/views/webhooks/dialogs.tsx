/** Adds, changes and deletes an endpoint, and replaces its secret. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { EVENT_MEANINGS, EVENT_TYPES, type EventType } from '../../../sdk/wire/events.ts';
import type { WebhookEndpoint } from '../../../sdk/wire/wire.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useNotify } from '../../parts/toasts.tsx';
import { Button, Checkbox, Input, Note } from '../../parts/ui.tsx';
import { explain, request } from '../../service.ts';

/** The event types to choose from. A test is always sent. */
const CHOICES = EVENT_TYPES.filter((type) => type !== 'webhook.test');

interface MadeProps {
  onClose(): void;
  /** Gets the new secret. */
  onMade(secret: string): void;
}

/** Changes `endpoint`, or adds a new one without it. */
export function EndpointDialog({ endpoint, onClose, onMade }: MadeProps & { endpoint?: WebhookEndpoint }) {
  const queries = useQueryClient();
  const notify = useNotify();
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [isAll, setAll] = useState((endpoint?.event_types.length ?? 0) === 0);
  const [types, setTypes] = useState<EventType[]>(endpoint?.event_types ?? []);
  const save = useMutation({
    mutationFn: async () => {
      const wanted = { url, event_types: isAll ? [] : types };
      if (!endpoint) return (await request('createWebhook', { body: wanted })).secret;
      await request('updateWebhook', { endpoint_id: endpoint.endpoint_id, body: wanted });
      return null;
    },
    onSuccess: async (secret) => {
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
      if (secret !== null) return onMade(secret);
      notify('The endpoint is changed', 'The change applies to new events.');
      onClose();
    },
  });
  const isIncomplete = url === '' || (!isAll && types.length === 0);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isIncomplete) save.mutate();
  };
  const toggle = (type: EventType, isOn: boolean) =>
    setTypes((before) => (isOn ? [...before, type] : before.filter((one) => one !== type)));
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={endpoint ? 'Change the endpoint' : 'Add an endpoint'}
      mayClose={!save.isPending}
    >
      <form onSubmit={submit} className="grid gap-5">
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
          {!isAll &&
            CHOICES.map((type) => (
              <Checkbox
                key={type}
                label={type}
                hint={EVENT_MEANINGS[type]}
                checked={types.includes(type)}
                onChange={(event) => toggle(type, event.target.checked)}
              />
            ))}
        </fieldset>
        {save.error && <Note tone="bad">{explain(save.error)}</Note>}
        <Buttons onClose={onClose}>
          <Button type="submit" kind="primary" busy={save.isPending} disabled={isIncomplete}>
            {endpoint ? 'Save' : 'Add endpoint'}
          </Button>
        </Buttons>
      </form>
    </Dialog>
  );
}

export function RotateDialog({ endpoint, onClose, onMade }: MadeProps & { endpoint: WebhookEndpoint }) {
  const queries = useQueryClient();
  const rotate = useMutation({
    mutationFn: () => request('rotateWebhookSecret', { endpoint_id: endpoint.endpoint_id }),
    onSuccess: async ({ secret }) => {
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
      onMade(secret);
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Replace the signing secret?"
      about="For 24 hours each webhook is signed with the old and the new secret, so that you can replace it without losing a webhook."
      mayClose={!rotate.isPending}
    >
      <div className="grid gap-5">
        {rotate.error && <Note tone="bad">{explain(rotate.error)}</Note>}
        <Buttons onClose={onClose}>
          <Button kind="primary" busy={rotate.isPending} onClick={() => rotate.mutate()}>
            Replace
          </Button>
        </Buttons>
      </div>
    </Dialog>
  );
}

export function DeleteDialog({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose(): void }) {
  const queries = useQueryClient();
  const notify = useNotify();
  const remove = useMutation({
    mutationFn: () => request('deleteWebhook', { endpoint_id: endpoint.endpoint_id }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
      notify('The endpoint is deleted', 'Nothing is sent there any more.');
      onClose();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Delete the endpoint?"
      about="Nothing is sent there any more, and its log is deleted too."
      mayClose={!remove.isPending}
    >
      <div className="grid gap-5">
        <code className="font-mono text-sm break-all">{endpoint.url}</code>
        {remove.error && <Note tone="bad">{explain(remove.error)}</Note>}
        <Buttons onClose={onClose}>
          <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
            Delete
          </Button>
        </Buttons>
      </div>
    </Dialog>
  );
}

function Buttons({ onClose, children }: { onClose(): void; children: ReactNode }) {
  return (
    <div className="flex flex-wrap justify-end gap-2">
      <Button onClick={onClose}>Cancel</Button>
      {children}
    </div>
  );
}
