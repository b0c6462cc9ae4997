/** The secret of an endpoint, shown once. */
import { ShownOnce } from '../../parts/shownOnce.tsx';
import { Code } from '../../parts/values.tsx';

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
