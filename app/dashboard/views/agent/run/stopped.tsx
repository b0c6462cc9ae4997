/** Says before a call that the whole marketplace takes none. */
import { useQuery } from '@tanstack/react-query';
import { Note } from '../../../parts/ui.tsx';
import { request } from '../../../service.ts';

const REFRESH_MS = 15_000;

export function Stopped() {
  const { data } = useQuery({
    queryKey: ['health'],
    queryFn: () => request('getHealth'),
    refetchInterval: REFRESH_MS,
  });
  if (!data || data.problems.length === 0) return null;
  return (
    <div className="mb-6">
      {data.problems.includes('opens_paused') ? (
        <Note tone="warn" title="New calls are paused on the whole marketplace">
          Its admin or guardian has paused them. Calls in progress go on. New ones are refused, and nothing is paid.
        </Note>
      ) : (
        <Note tone="warn" title="The marketplace takes no calls at the moment">
          It cannot pay or show them safely. New calls are refused, and nothing is paid. Try again in a few minutes.
        </Note>
      )}
    </div>
  );
}
