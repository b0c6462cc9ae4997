/** Field to drop or choose a receipt's file. It is read here and not sent anywhere. */
import { type DragEvent, useEffect, useId, useRef, useState } from 'react';
import { buttonStyle, cx, Note } from '../../parts/ui.tsx';

/** Enough for the largest result; a longer file is not a receipt. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Fields that every receipt has. The result is not among them, because the caller may have deleted it. */
const FIELDS = ['execution_id', 'result_hash', 'signature'];

const WHERE = 'Download a receipt from the page of the call, or with the CLI.';

async function readReceipt(file: File): Promise<unknown> {
  if (file.size > MAX_BYTES) throw new Error(`${file.name} is too large to be a receipt.`);
  let receipt: unknown;
  try {
    receipt = JSON.parse(await file.text());
  } catch {
    throw new Error(`${file.name} is not JSON. ${WHERE}`);
  }
  const isReceipt = typeof receipt === 'object' && receipt !== null && FIELDS.every((name) => name in receipt);
  if (!isReceipt) throw new Error(`${file.name} is JSON, but not a receipt. ${WHERE}`);
  return receipt;
}

interface ReceiptFileProps {
  onReceipt(receipt: unknown, name: string): void;
  /** Called when a file is chosen that is not a receipt. */
  onWrong(): void;
}

export function ReceiptFile({ onReceipt, onWrong }: ReceiptFileProps) {
  const [isOver, setOver] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();

  // Otherwise a file dropped beside the field would open instead of the page.
  useEffect(() => {
    const keep = (event: Event) => event.preventDefault();
    window.addEventListener('dragover', keep);
    window.addEventListener('drop', keep);
    return () => {
      window.removeEventListener('dragover', keep);
      window.removeEventListener('drop', keep);
    };
  }, []);

  async function take(file: File | undefined) {
    if (!file) return;
    setError(null);
    try {
      onReceipt(await readReceipt(file), file.name);
    } catch (reason) {
      setError((reason as Error).message);
      onWrong();
    }
  }

  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files[0]);
  }

  return (
    <div className="grid grid-rows-[auto_1fr] gap-1.5">
      <p className="text-sm font-medium">Or a receipt’s file</p>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a second way; the input is reached by keyboard */}
      <div
        onDragOver={() => setOver(true)}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
        className={cx(
          'grid content-center justify-items-center gap-3 rounded-xl border border-dashed px-5 py-7 text-center transition-colors',
          isOver ? 'border-accent bg-accent-soft' : 'border-strong',
        )}
      >
        <input
          ref={input}
          id={id}
          type="file"
          accept=".json,application/json"
          className="peer sr-only"
          onChange={(event) => {
            void take(event.target.files?.[0]);
            // Lets the user choose the same file again after a change.
            event.target.value = '';
          }}
        />
        <label
          htmlFor={id}
          className={cx(buttonStyle(), 'cursor-pointer peer-focus-visible:outline-2 peer-focus-visible:outline-accent')}
        >
          Choose a receipt
        </label>
        <p className="text-sm text-faint">
          <span className="max-sm:hidden pointer-coarse:hidden">or drop it here, </span>to check result and signature as
          well
        </p>
      </div>
      {error && <Note tone="bad">{error}</Note>}
    </div>
  );
}
