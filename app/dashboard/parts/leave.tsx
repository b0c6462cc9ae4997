/** Asks before something unsigned or unsaved is left behind. */
import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Button } from './ui.tsx';

interface LeaveProps {
  /** Whether there is something to lose. */
  when: boolean;
  /** Whether a reload or a closed tab would lose it, too; default yes. */
  isLostWithPage?: boolean;
  title: string;
  children: ReactNode;
}

export function AskBeforeLeaving({ when, isLostWithPage = true, title, children }: LeaveProps) {
  const blocker = useBlocker({
    // Another tab of the same view is no other place.
    shouldBlockFn: ({ current, next }) => when && current.pathname !== next.pathname,
    enableBeforeUnload: when && isLostWithPage,
    withResolver: true,
  });
  const stay = () => blocker.reset?.();
  return (
    <Dialog open={blocker.status === 'blocked'} onOpenChange={(open) => !open && stay()} title={title}>
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
