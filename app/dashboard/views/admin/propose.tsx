/** Dialogs of the admin that name a key, which takes its role only later, or that raise the delay of changes. */
import { useState } from 'react';
import type { Proposal } from '../../../sdk/wallet/changes.ts';
import { ADDRESS } from '../../../sdk/wire/fields.ts';
import { SignButton } from '../../parts/sign.tsx';
import { Input } from '../../parts/ui.tsx';
import { formatSpan, shorten } from '../../parts/values.tsx';
import type { Limits, Settings } from './chainConfig.ts';
import { delayField, faultOf } from './draft.ts';
import { SpanInput } from './settingsForm.tsx';

interface ProposeKeyProps {
  button: string;
  title: string;
  about: string;
  doing: string;
  label: string;
  hint: string;
  /** Addresses that have a role already. */
  taken: readonly (string | null)[];
  closed?: boolean;
  proposal(key: NonNullable<Proposal['nextAdmin']>): Proposal;
}

export function ProposeKey({ label, hint, taken, proposal, ...dialog }: ProposeKeyProps) {
  const [text, setText] = useState('');
  const address = text.trim();
  const isOther = ADDRESS.test(address) && !taken.includes(address);
  return (
    <SignButton
      {...dialog}
      small
      confirm="Sign and propose"
      danger
      disabled={!isOther}
      work={({ marketplace, wallet, announceChange, PublicKey }) =>
        announceChange(marketplace, wallet, proposal(new PublicKey(address)))
      }
      done={() => [`${shorten(address)} is proposed`]}
      onDone={() => setText('')}
    >
      <Input
        label={label}
        hint={hint}
        error={address !== '' && !isOther ? 'It must be the address of another wallet.' : null}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="font-mono"
        autoComplete="off"
        spellCheck={false}
      />
    </SignButton>
  );
}

/** When a proposal can be applied. `seconds`: from its signature on. */
export const appliedWords = (seconds: number): string =>
  seconds === 0
    ? 'Apply the proposal under “Pending changes”.'
    : `The proposal waits ${formatSpan(seconds)}; then anybody can apply it.`;

/** A number of days that is not typed yet. */
const NO_SPAN = ' days';

export function RaiseDelay({ config, limits }: { config: Settings; limits: Limits }) {
  const now = config.admin_delay_seconds;
  const [text, setText] = useState(NO_SPAN);
  const field = delayField(limits, now);
  const fault = faultOf(field, text);
  const seconds = fault === null ? Number(field.parse(text)) : null;
  return (
    <SignButton
      button="Raise the delay …"
      small
      closed={now >= limits.adminDelaySecondsMax}
      title="Raise the delay of changes?"
      about={`It can never be lowered. ${now === 0 ? 'It applies as soon as you sign.' : appliedWords(now)}`}
      rows={[
        [
          'Delay of changes',
          `${now === 0 ? 'No delay' : formatSpan(now)} → ${seconds === null ? '–' : formatSpan(seconds)}`,
        ],
      ]}
      doing="Raising the delay"
      confirm={now === 0 ? 'Sign and raise' : 'Sign and propose'}
      danger
      disabled={seconds === null}
      work={async ({ marketplace, wallet, announceChange, changeSettings }) => {
        const settings = { adminDelaySeconds: seconds! };
        if (now === 0) await changeSettings(marketplace, wallet, settings);
        else await announceChange(marketplace, wallet, { settings });
      }}
      done={() => [now === 0 ? 'The delay is raised' : 'The longer delay is proposed']}
      onDone={() => setText(NO_SPAN)}
    >
      <SpanInput
        label="New delay"
        hint="Long enough for somebody to notice and cancel a thief’s change; on mainnet at least 1 day."
        error={text === NO_SPAN ? null : fault}
        value={text}
        onChange={setText}
      />
    </SignButton>
  );
}
