/** The calls of all agents of a creator. */
import { getRouteApi } from '@tanstack/react-router';
import { SignedIn } from '../parts/connect.tsx';
import { Back } from '../parts/heads.tsx';
import { PageHead } from '../parts/ui.tsx';
import { Received } from './listing/received.tsx';

const route = getRouteApi('/creator/calls');

export default function View() {
  const { failed = false, call } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <Back to="/creator">Your agents</Back>
      <PageHead title="Calls of all agents" />
      <SignedIn why="Only the wallet that listed an agent sees the calls that its server received.">
        <Received
          agentId={undefined}
          only={call}
          failed={failed}
          onFailed={(next) =>
            void navigate({ search: next ? { failed: true } : {}, replace: true, resetScroll: false })
          }
          onFind={(found) => void navigate({ search: { call: found }, resetScroll: false })}
        />
      </SignedIn>
    </>
  );
}
