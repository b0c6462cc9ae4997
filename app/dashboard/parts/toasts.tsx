/** Short notices of success. Errors are shown where they happened. */
import { createContext, lazy, type ReactNode, Suspense, useCallback, useContext, useState } from 'react';
import type { Notice } from './notices.tsx';

const Notices = lazy(() => import('./notices.tsx'));

const Context = createContext<(title: string, about?: ReactNode) => void>(() => undefined);

/** `notify('Copied')`, with an optional second line. */
export const useNotify = () => useContext(Context);

let count = 0;

export function Toasts({ children }: { children: ReactNode }) {
  const [notices, setNotices] = useState<Notice[]>([]);
  const notify = useCallback((title: string, about?: ReactNode) => {
    count += 1;
    setNotices((before) => [...before.slice(-2), { id: count, title, about }]);
  }, []);
  const dismiss = useCallback((id: number) => setNotices((before) => before.filter((notice) => notice.id !== id)), []);
  return (
    <Context.Provider value={notify}>
      {children}
      {/* Loaded with the first notice. */}
      {count > 0 && (
        <Suspense>
          <Notices notices={notices} onDismiss={dismiss} />
        </Suspense>
      )}
    </Context.Provider>
  );
}
