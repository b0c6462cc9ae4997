/** The secret of an endpoint, shown once. Closing it asks for confirmation. */
import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { AskBeforeLeaving } from '../../parts/leave.tsx';
import { Button, Note } from '../../parts/ui.tsx';
import { Code, Copy } from '../../parts/values.tsx';

const RECEIVER = `import { Webhook } from 'standardwebhooks';

// The body as text, before it is parsed.
const event = new Webhook(process.env.WEBHOOK_SECRET).verify(body, headers);
// Answer any 2xx status within 10 seconds. An event may come twice.`;

export function SecretDialog({ secret, onClose }: { secret: string; onClose(): void }) {
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const leave = () => (isCopied ? onClose() : setAsking(true));
  return (
    <>
      <AskBeforeLeaving when={!isCopied} title="Leave without the secret?">
        You have not copied the secret, and it cannot be shown again.
      </AskBeforeLeaving>
      <Dialog
        open
        onOpenChange={leave}
        title="Your signing secret"
        about="Copy it now and keep it like a password. Your server verifies with it that a webhook is from this marketplace."
      >
        <div className="grid grid-cols-1 gap-5" onCopy={() => setCopied(true)}>
          <div className="flex items-start justify-between gap-3 rounded-lg bg-accent-soft p-4">
            <code className="min-w-0 font-mono text-sm break-all">{secret}</code>
            <Copy text={secret} onCopied={() => setCopied(true)} />
          </div>
          <div>
            <h3 className="mb-2 text-sm font-medium">Verify a webhook</h3>
            <Code text={RECEIVER} label="Verifying a webhook in TypeScript" />
          </div>
          {isAsking && !isCopied && (
            <Note tone="warn" title="You have not copied the secret">
              The secret cannot be shown again. You can replace it at any time.
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
            <Button kind={isCopied ? 'primary' : 'plain'} onClick={leave}>
              Done
            </Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}
