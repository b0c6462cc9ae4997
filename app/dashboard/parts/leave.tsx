/** Asks before unsigned or unsaved input is lost. */
import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Button } from './ui.tsx';

interface LeaveProps {
  /** True if there is something to lose. */
  when: boolean;
  /** True (the default) if a reload or a closed tab would lose it too. */
  isLostWithPage?: boolean;
  title: string;
  children: ReactNode;
}

export function AskBeforeLeaving({ when, isLostWithPage = true, title, children }: LeaveProps) {
  const blocker = useBlocker({
    // Another tab of the same view has the same path.
    shouldBlockFn: ({ current, next }) => when && current.pathname !== next.pathname,
    enableBeforeUnload: when && isLostWithPage,
    withResolver: true,
  });
  const stay = () => blocker.reset?.();
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog title={title} onClose={stay}>
      <div className="grid gap-5">
        <div className="text-sm text-faint">{children}</div>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={() => blocker.proceed?.()}>Leave</Button>
          <Button kind="primary" onClick={stay}>
            Stay
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
