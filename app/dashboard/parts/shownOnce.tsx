/** A dialog with a text that is shown once, such as an API key. Closing it before the text is copied asks first. */
import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog.tsx';
import { AskBeforeLeaving } from './leave.tsx';
import { Button, Note } from './ui.tsx';
import { Copy } from './values.tsx';

interface ShownOnceProps {
  text: string;
  /** Name of the text, such as `key`. */
  what: string;
  title: string;
  about: string;
  /** The consequence if it is not copied. */
  loss: string;
  onClose(): void;
  children: ReactNode;
}

export function ShownOnce({ text, what, title, about, loss, onClose, children }: ShownOnceProps) {
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const copied = () => setCopied(true);
  const leave = () => (isCopied ? onClose() : setAsking(true));
  return (
    <>
      <AskBeforeLeaving when={!isCopied} title={`Leave without the ${what}?`}>
        You have not copied the {what}, and it cannot be shown again.
      </AskBeforeLeaving>
      <Dialog title={title} about={about} onClose={leave}>
        {/* Also notices a copy by keyboard or menu. */}
        <div className="grid grid-cols-1 gap-5" onCopy={copied}>
          <div className="flex items-start justify-between gap-3 rounded-lg bg-accent-soft p-4">
            <code className="min-w-0 font-mono text-sm break-all">{text}</code>
            <Copy text={text} onCopied={copied} />
          </div>
          {children}
          {isAsking && !isCopied && (
            <Note tone="warn" title={`You have not copied the ${what}`}>
              {loss}
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
