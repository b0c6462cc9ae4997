/** The wallets of this browser, and the sign-in with one of them. */
import { useMutation } from '@tanstack/react-query';
import { developmentWalletsPath } from '../service.ts';
import { signIn } from '../wallet/session.ts';
import { useWallets } from '../wallet/wallets.ts';
import { TestMark } from './badges.tsx';
import { Dialog } from './dialog.tsx';
import { Failed } from './failed.tsx';
import { GetWallet } from './getWallet.tsx';
import { Button, Empty } from './ui.tsx';

export default function ConnectDialog({ onClose }: { onClose(): void }) {
  const wallets = useWallets();
  const { mutate, isPending, variables, error } = useMutation({
    mutationFn: signIn,
    networkMode: 'always',
    onSuccess: onClose,
  });
  return (
    <Dialog
      title={
        <span className="flex items-center gap-2">
          Connect a wallet <TestMark />
        </span>
      }
      about="You sign a message that proves the wallet is yours. It is not a transaction and spends nothing."
      onClose={onClose}
    >
      <ul className="grid gap-2">
        {wallets.map((wallet) => (
          <li key={wallet.name}>
            <Button
              className="w-full justify-start"
              busy={isPending && variables === wallet}
              onClick={() => mutate(wallet)}
            >
              <img src={wallet.icon} alt="" className="size-5 rounded" />
              {wallet.name}
            </Button>
          </li>
        ))}
      </ul>
      {wallets.length === 0 && (
        <Empty title="This browser has no Solana wallet">
          <GetWallet /> Then reload this page.
        </Empty>
      )}
      {developmentWalletsPath() !== '' && (
        <p className="mt-4 text-sm text-faint">
          The demo wallets are free test wallets that everybody here shares. Their USDC and SOL have no value.
        </p>
      )}
      <Failed error={error} title="Not connected" className="mt-4" />
    </Dialog>
  );
}
