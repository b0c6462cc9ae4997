/** A dialog over the page: focus stays inside, Escape and the cross close it. It is open as long as it is rendered. */
import { Dialog as Primitive } from 'radix-ui';
import { type ReactNode, useRef } from 'react';
import { focusContent } from './focus.ts';
import { CrossIcon } from './icons.tsx';
import { Button, buttonStyle, cx, Note } from './ui.tsx';

/** The first of these gets the focus, else the first button. A choice between fields is none of them. */
const FIELDS =
  'input:not([disabled], [type="hidden"], [type="radio"]), textarea:not([disabled]), select:not([disabled])';

/** Returns the focus to what opened the dialog. Radix knows only its own trigger, but these are opened by state. */
export function useOpener() {
  const opener = useRef<Element | null>(null);
  return {
    remember() {
      opener.current = document.activeElement;
    },
    focus(event: Event) {
      event.preventDefault();
      const { current } = opener;
      // The body had the focus if another dialog closed just before this one opened.
      if (current instanceof HTMLElement && current.isConnected && current !== document.body) current.focus();
      else focusContent();
    },
  };
}

interface DialogProps {
  title: ReactNode;
  /** One sentence under the title. */
  about?: ReactNode;
  children: ReactNode;
  /** False while an action must be completed. */
  mayClose?: boolean;
  onClose(): void;
}

export function Dialog({ title, about, children, mayClose = true, onClose }: DialogProps) {
  const keep = (event: Event) => {
    if (!mayClose) event.preventDefault();
  };
  const opener = useOpener();
  return (
    <Primitive.Root open onOpenChange={() => mayClose && onClose()}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-40 bg-black/50" />
        <Primitive.Content
          onOpenAutoFocus={(event) => {
            opener.remember();
            const field = (event.target as HTMLElement).querySelector<HTMLElement>(FIELDS);
            if (!field) return;
            event.preventDefault();
            field.focus();
          }}
          onCloseAutoFocus={opener.focus}
          onEscapeKeyDown={keep}
          onPointerDownOutside={keep}
          aria-describedby={about ? undefined : ''}
          className={cx(
            'fixed z-50 inset-x-0 bottom-0 max-h-[95dvh] scroll-pb-40 overflow-y-auto rounded-t-2xl border border-line bg-raised p-6',
            'sm:inset-auto sm:top-1/2 sm:left-1/2 sm:w-[min(34rem,calc(100vw-2rem))] sm:-translate-x-1/2 sm:-translate-y-1/2 sm:rounded-2xl',
          )}
        >
          <div className="mb-4">
            {mayClose && (
              <Primitive.Close aria-label="Close" className={cx('float-right ml-4', buttonStyle('quiet', true))}>
                <CrossIcon />
              </Primitive.Close>
            )}
            <Primitive.Title className="text-lg font-semibold">{title}</Primitive.Title>
            {about && <Primitive.Description className="mt-1 text-sm text-faint">{about}</Primitive.Description>}
          </div>
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

interface FormDialogProps extends Omit<DialogProps, 'mayClose'> {
  /** True while the action runs; the dialog then stays. */
  isBusy: boolean;
  /** Why the action failed. */
  error: string | null;
  /** Title above `error`. */
  failed?: string | undefined;
  /** Stays with the buttons: one line, such as what is paid, or why it cannot be submitted yet. */
  whyNot?: ReactNode;
  cancel?: string | undefined;
  /** The button that submits the form. */
  button: ReactNode;
  onSubmit(): void;
}

/** What scrolls below it fades first, so that it does not look complete. */
const FADE =
  'before:pointer-events-none before:absolute before:inset-x-0 before:bottom-full before:h-4 before:bg-linear-to-t before:from-raised before:to-transparent';
const FOOT =
  'sticky -bottom-6 z-1 -mx-6 -mb-6 flex flex-wrap items-center justify-end gap-2 border-t border-line bg-raised px-6 py-2.5 sm:py-3 max-sm:*:grow';

/** A dialog with a form, and below it what stays visible: `whyNot`, and the buttons to cancel and to submit. */
export function FormDialog(props: FormDialogProps) {
  const {
    isBusy,
    error,
    failed = 'It failed',
    whyNot,
    cancel = 'Cancel',
    button,
    children,
    onSubmit,
    ...dialog
  } = props;
  return (
    <Dialog {...dialog} mayClose={!isBusy}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        <div className="grid gap-4 pb-4">
          {children}
          {error && (
            <Note tone="bad" title={failed}>
              {error}
            </Note>
          )}
        </div>
        <div className={cx(FOOT, FADE)}>
          {whyNot && <div className="w-full text-sm text-faint max-sm:text-[0.8125rem]">{whyNot}</div>}
          <Button onClick={props.onClose} disabled={isBusy}>
            {cancel}
          </Button>
          {button}
        </div>
      </form>
    </Dialog>
  );
}
