/** The dialogs of the view of API keys, and the value of a new key. */
import { useState } from 'react';
import type { KeySummary } from '../../../sdk/wire/procedures.ts';
import AddUsdcDialog from '../../parts/addUsdc.tsx';
import { LimitsDialog, RestrictDialog } from './change.tsx';
import { CreateDialog } from './create.tsx';
import { CloseDialog, RevokeDialog, RevokeOnChainDialog, RotateDialog } from './end.tsx';
import type { KeyAction } from './keyCard.tsx';
import type { MadeKey } from './makeKey.ts';
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
      <CreateDialog open={shown === 'create'} money={money} onClose={() => onShow(null)} onMade={setMade} />
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
