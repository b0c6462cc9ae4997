/** The pauses of admin and guardian: their state, and the button by which each sets and lifts its own at once. */
import { SignButton } from '../../parts/sign.tsx';
import { Badge } from '../../parts/ui.tsx';
import type { Settings } from '../admin/chainConfig.ts';

interface PauseProps {
  /** Whose view it is. */
  of: 'admin' | 'guardian';
  config: Settings;
}

const EFFECT = {
  admin: 'In an emergency, pausing stops every new escrow at once.',
  guardian:
    'In an emergency, pausing stops every new escrow, every withdrawal from the treasury and every transfer of forfeited collateral to it at once. It also cancels all pending changes of settings.',
} as const;

export function Pause({ of: role, config }: PauseProps) {
  const paused = { admin: config.admin_paused, guardian: config.guardian_paused };
  const isPaused = paused[role];
  const other = role === 'admin' ? 'guardian' : 'admin';
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-4">
      <div className="min-w-0">
        <h2 className="flex items-center gap-2 font-semibold">
          New calls
          {paused.admin || paused.guardian ? <Badge tone="warn">Paused</Badge> : <Badge tone="good">Accepted</Badge>}
        </h2>
        <p className="mt-1 text-sm text-faint">
          {isPaused ? 'You have paused them.' : EFFECT[role]} Calls in progress are still settled and refunded.
        </p>
        {paused[other] && (
          <p className="mt-1 text-sm text-faint">
            The {other} has paused new calls
            {other === 'guardian' && ', withdrawals from the treasury and transfers of forfeited collateral to it'}.
            Only the {other} can lift this pause at once.
          </p>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        {role === 'admin' && paused.guardian && <LiftGuardianPause delay={config.admin_delay_seconds} />}
        <SignButton
          button={isPaused ? 'Resume calls …' : 'Pause calls …'}
          kind={isPaused ? 'primary' : 'danger'}
          title={isPaused ? 'Lift your pause?' : 'Pause all new calls?'}
          about={
            isPaused
              ? 'Callers can pay for calls of every active agent again, unless the other pause is set.'
              : 'Callers of every agent are refused until you resume. Calls in progress end normally.'
          }
          rows={[[`Pause of the ${role}`, isPaused ? 'set → lifted' : 'lifted → set']]}
          doing={isPaused ? 'Lifting the pause' : 'Pausing new calls'}
          confirm={isPaused ? 'Resume' : 'Pause'}
          danger={!isPaused}
          work={({ marketplace, wallet, changePause }) => changePause(marketplace, wallet, !isPaused)}
          done={() => [isPaused ? 'Your pause is lifted' : 'New calls are paused']}
        />
      </div>
    </div>
  );
}

/** The admin can end the guardian's pause only by a change that waits, if the marketplace has a delay. */
function LiftGuardianPause({ delay }: { delay: number }) {
  const waits = delay > 0;
  return (
    <SignButton
      button="Lift the guardian’s pause …"
      title={waits ? 'Announce the end of the guardian’s pause?' : 'Lift the guardian’s pause?'}
      about={
        waits
          ? 'The change waits for the delay, and the guardian can cancel it.'
          : 'It takes effect as soon as the transaction is confirmed.'
      }
      rows={[['Pause of the guardian', 'set → lifted']]}
      doing={waits ? 'Announcing the end of the pause' : 'Lifting the pause'}
      confirm={waits ? 'Sign and announce' : 'Sign and lift'}
      danger
      work={async ({ marketplace, wallet, announceChange, changeSettings }) => {
        const settings = { liftGuardianPause: true };
        if (waits) await announceChange(marketplace, wallet, { settings });
        else await changeSettings(marketplace, wallet, settings);
      }}
      done={() => [waits ? 'The change is announced' : 'The guardian’s pause is lifted']}
    />
  );
}
