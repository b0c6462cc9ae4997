/** Asks before something unsigned or unsaved is left: by a link, by going back, by closing the page. */
import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Button } from './ui.tsx';

interface LeaveGuardProps {
  when: boolean;
  title?: string;
  /** What is lost. */
  children: ReactNode;
}

export function LeaveGuard({ when, title = 'Leave this page?', children }: LeaveGuardProps) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => when && current.pathname !== next.pathname,
    enableBeforeUnload: () => when,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog open onOpenChange={(open) => !open && blocker.reset()} title={title} about={children}>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={blocker.reset}>Stay</Button>
        <Button kind="danger" onClick={blocker.proceed}>
          Leave
        </Button>
      </div>
    </Dialog>
  );
}
