/** The dialogs of the view of API keys, and the value of a new key. */
import { useState } from 'react';
import type { KeySummary } from '../../../sdk/wire/procedures.ts';
import { ActDialog } from '../../parts/act.tsx';
import AddUsdcDialog from '../../parts/addUsdc.tsx';
import { DAY_SECONDS } from '../../parts/days.ts';
import { SignDialog } from '../../parts/sign.tsx';
import { Select } from '../../parts/ui.tsx';
import { formatSpan } from '../../parts/values.tsx';
import { call } from '../../service.ts';
import { LimitsDialog, RestrictDialog } from './change.tsx';
import { CreateDialog } from './create.tsx';
import type { KeyAction } from './keyCard.tsx';
import { keepGranted, keyCost, type MadeKey } from './makeKey.ts';
import type { WalletMoney } from './money.ts';
import { ShownKey } from './shown.tsx';
import { AllowanceDialog, GasDialog } from './walletDialogs.tsx';

export type Shown =
  | 'create'
  | 'usdc'
  | 'gas'
  | 'takeGas'
  | 'allowance'
  | { action: KeyAction; apiKey: KeySummary }
  | null;

interface DialogsProps {
  wallet: string;
  shown: Shown;
  money: WalletMoney;
  onShow(shown: Shown): void;
}

export default function Dialogs({ wallet, shown, money, onShow }: DialogsProps) {
  const [made, setMade] = useState<MadeKey | null>(null);
  return (
    <>
      {/* Empty again once a key is made. */}
      <CreateDialog
        key={made?.apiKey}
        open={shown === 'create'}
        money={money}
        onClose={() => onShow(null)}
        onMade={setMade}
      />
      {shown === 'usdc' ? (
        <AddUsdcDialog wallet={wallet} onClose={() => onShow(null)} />
      ) : (
        <Others shown={shown} money={money} onShow={onShow} onMade={setMade} />
      )}
      {made && <ShownKey made={made} wallet={wallet} onClose={() => setMade(null)} />}
    </>
  );
}

interface OthersProps extends Omit<DialogsProps, 'wallet' | 'shown'> {
  shown: Exclude<Shown, 'usdc'>;
  onMade(made: MadeKey): void;
}

function Others({ shown, money, onShow, onMade }: OthersProps) {
  const onClose = () => onShow(null);
  if (shown === null || shown === 'create') return null;
  if (shown === 'allowance') return <AllowanceDialog money={money} onClose={onClose} />;
  if (shown === 'gas' || shown === 'takeGas') {
    return <GasDialog money={money} way={shown === 'gas' ? 'add' : 'take'} onClose={onClose} />;
  }
  const { action, apiKey } = shown;
  const grant = money.grants.get(apiKey.key_id);
  if (action === 'restrict') return <RestrictDialog apiKey={apiKey} grant={grant} onClose={onClose} />;
  if (action === 'revoke') {
    const endOnChain = () => onShow({ action: 'revokeOnChain', apiKey: { ...apiKey, revoked: true } });
    return <RevokeDialog apiKey={apiKey} onClose={onClose} onHalfDone={endOnChain} />;
  }
  if (action === 'revokeOnChain') return <RevokeOnChainDialog apiKey={apiKey} onClose={onClose} />;
  if (action === 'close') return <CloseDialog apiKey={apiKey} onClose={onClose} />;
  if (action === 'limits')
    return grant && <LimitsDialog apiKey={apiKey} grant={grant} money={money} onClose={onClose} />;
  return <RotateDialog apiKey={apiKey} money={money} onClose={onClose} onMade={onMade} />;
}

const GRACES = [0, 3_600, DAY_SECONDS, 7 * DAY_SECONDS];

interface EndProps {
  apiKey: KeySummary;
  onClose(): void;
}

interface RotateProps extends EndProps {
  money: WalletMoney;
  onMade(made: MadeKey): void;
}

function RotateDialog({ apiKey, money, onClose, onMade }: RotateProps) {
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
function RevokeDialog({ apiKey, onClose, onHalfDone }: EndProps & { onHalfDone(): void }) {
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
function RevokeOnChainDialog({ apiKey, onClose }: EndProps) {
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
function CloseDialog({ apiKey, onClose }: EndProps) {
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
