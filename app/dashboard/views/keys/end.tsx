/** Ends a key: replaces it, revokes it, or gets its deposit back. */
import { useState } from 'react';
import type { KeySummary } from '../../../sdk/wire/procedures.ts';
import { ActDialog } from '../../parts/act.tsx';
import { DAY_SECONDS } from '../../parts/days.ts';
import { SignDialog } from '../../parts/sign.tsx';
import { Select } from '../../parts/ui.tsx';
import { formatSpan } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { keepGranted, keyCost, type MadeKey } from './makeKey.ts';
import type { WalletMoney } from './money.ts';

const GRACES = [0, 3_600, DAY_SECONDS, 7 * DAY_SECONDS];

interface EndProps {
  apiKey: KeySummary;
  onClose(): void;
}

interface RotateProps extends EndProps {
  money: WalletMoney;
  onMade(made: MadeKey): void;
}

export function RotateDialog({ apiKey, money, onClose, onMade }: RotateProps) {
  const [grace, setGrace] = useState(DAY_SECONDS);
  const cost = keyCost(money);
  return (
    <SignDialog
      title={`Replace "${apiKey.name}"`}
      about="You get a new key with the same name, limits and restrictions. The old key keeps working for a while, so that you can replace it everywhere."
      doing="Giving the new key its limits"
      spends={cost}
      pays={cost.pays}
      confirm="Sign and replace"
      work={({ marketplace, wallet, onProgress, rotateKey }) =>
        keepGranted(
          {
            name: apiKey.name,
            scopes: apiKey.scopes,
            allowedIps: apiKey.allowed_ips,
            allowedAgents: apiKey.allowed_agents,
          },
          (onGranted) =>
            rotateKey(marketplace, { wallet, keyId: apiKey.key_id, graceSeconds: grace, onProgress }, onGranted),
        )
      }
      onClose={onClose}
      onDone={onMade}
    >
      <Select label="The old key works for" value={grace} onChange={(event) => setGrace(Number(event.target.value))}>
        {GRACES.map((seconds) => (
          <option key={seconds} value={seconds}>
            {seconds === 0 ? 'no longer' : formatSpan(seconds)}
          </option>
        ))}
      </Select>
    </SignDialog>
  );
}

/** Ends a key at the marketplace with one click. `onHalfDone`: only the wallet can end its grant on the chain. */
export function RevokeDialog({ apiKey, onClose, onHalfDone }: EndProps & { onHalfDone(): void }) {
  return (
    <ActDialog
      title={`Revoke "${apiKey.name}"?`}
      about="The key ends at once, permanently. Calls in progress are finished and paid; new calls are refused."
      confirm="Revoke"
      danger
      cancel="Keep it"
      failed="It was not revoked. Your wallet can also end it without the marketplace, from the menu of the key"
      work={async () => (await call('keys.revoke', { key_id: apiKey.key_id })).on_chain.error === null}
      done={(isDone) => isDone && [`"${apiKey.name}" is revoked`, 'It ended at once.']}
      onClose={onClose}
      onDone={(isDone) => isDone || onHalfDone()}
    />
  );
}

/** Ends a grant with the wallet's own signature, with or without the marketplace. */
export function RevokeOnChainDialog({ apiKey, onClose }: EndProps) {
  return (
    <SignDialog
      title={`End "${apiKey.name}" ${apiKey.revoked ? 'for good' : 'without the marketplace'}`}
      about={
        apiKey.revoked
          ? 'The marketplace no longer accepts the key, but the chain still allows it to spend. Your wallet ends that with one signature.'
          : 'Your wallet takes the permission to spend from the key with one signature. The marketplace need not answer.'
      }
      doing="Ending the key"
      confirm="Sign and end"
      danger
      work={({ marketplace, wallet, revokeOnChain }) => revokeOnChain(marketplace, { wallet, keyId: apiKey.key_id })}
      done={() => [`"${apiKey.name}" can spend nothing more`]}
      onClose={onClose}
    />
  );
}

/** Removes an ended grant, which returns its deposit. */
export function CloseDialog({ apiKey, onClose }: EndProps) {
  return (
    <SignDialog
      title={`Get the deposit of "${apiKey.name}" back`}
      about="The key has ended, so its refundable deposit can go back to the wallet that paid it."
      doing="Getting the deposit back"
      confirm="Sign and get it back"
      work={({ marketplace, wallet, closeKey }) => closeKey(marketplace, { wallet, keyId: apiKey.key_id })}
      done={() => ['The deposit is returned', 'It went to the wallet that paid it.']}
      onClose={onClose}
    />
  );
}
