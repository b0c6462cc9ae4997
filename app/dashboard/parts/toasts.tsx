/** Short notices that something is done; errors stay where they happened instead. */
import { Toast } from 'radix-ui';
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { buttonStyle } from './ui.tsx';

interface Notice {
  id: number;
  title: string;
  about?: ReactNode;
}

const Context = createContext<(title: string, about?: ReactNode) => void>(() => undefined);

/** `notify('Copied')`, with more to say beneath where there is. */
export const useNotify = () => useContext(Context);

let count = 0;

export function Toasts({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<Notice[]>([]);
  const notify = useCallback((title: string, about?: ReactNode) => {
    count += 1;
    setNotices((before) => [...before.slice(-2), { id: count, title, about }]);
  }, []);
  return (
    <Context.Provider value={notify}>
      <Toast.Provider duration={6_000}>
        {children}
        {notices.map(({ id, title, about }) => (
          <Toast.Root
            key={id}
            onOpenChange={(open) => !open && setNotices((before) => before.filter((notice) => notice.id !== id))}
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
    </Context.Provider>
  );
}
