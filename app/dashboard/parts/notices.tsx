/** The visible notices, in the corner of the window. */
import { Toast } from 'radix-ui';
import type { ReactNode } from 'react';
import { buttonStyle } from './ui.tsx';

export interface Notice {
  id: number;
  title: string;
  about?: ReactNode;
}

export default function Notices({ notices, onDismiss }: { notices: Notice[]; onDismiss(id: number): void }) {
  return (
    <Toast.Provider duration={6_000}>
      {notices.map(({ id, title, about }) => (
        <Toast.Root
          key={id}
          onOpenChange={(open) => !open && onDismiss(id)}
          className="flex items-start justify-between gap-3 rounded-xl border border-line bg-raised p-4 shadow-lg"
        >
          <div className="min-w-0">
            <Toast.Title className="text-sm font-medium">{title}</Toast.Title>
            {about && (
              <Toast.Description asChild>
                <div className="mt-1 text-sm text-faint">{about}</div>
              </Toast.Description>
            )}
          </div>
          <Toast.Close aria-label="Dismiss" className={buttonStyle('quiet', true)}>
            <span aria-hidden="true">✕</span>
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport className="fixed right-4 bottom-4 z-60 grid w-[min(24rem,calc(100vw-2rem))] gap-2" />
    </Toast.Provider>
  );
}
