/** How USDC gets into the wallet: its address, the network, and where to get some. */
import { useQuery } from '@tanstack/react-query';
import { configQuery } from '../service.ts';
import { TestMark } from './badges.tsx';
import { Dialog } from './dialog.tsx';
import { GetUsdc } from './getWallet.tsx';
import { Facts, Note } from './ui.tsx';
import { Id } from './values.tsx';

interface AddUsdcDialogProps {
  /** Base58. */
  wallet: string;
  onClose(): void;
}

export default function AddUsdcDialog({ wallet, onClose }: AddUsdcDialogProps) {
  const { data: config } = useQuery(configQuery);
  const isMainnet = config?.explorer_query === '';
  return (
    <Dialog
      title={
        <span className="flex items-center gap-2">
          Add USDC <TestMark />
        </span>
      }
      about="Your wallet’s own USDC pays for calls. The balance here follows within a minute."
      onClose={onClose}
    >
      <div className="grid gap-4">
        <Facts
          rows={[
            ['Address', <Id key="address" value={wallet} full />],
            config !== undefined && ['Network', isMainnet ? 'Solana' : networkOf(config.explorer_query)],
            config !== undefined && ['Token (mint) of USDC', <Id key="mint" value={config.usdc_mint} kind="address" />],
          ]}
        />
        {config && (
          <Note tone="warn">
            {isMainnet
              ? 'Send only USDC, and only on Solana. What is sent on another network, such as Ethereum or Base, does not arrive.'
              : 'Send no real USDC: only test USDC of this network counts here.'}
          </Note>
        )}
        <p className="text-sm">
          <GetUsdc />
        </p>
      </div>
    </Dialog>
  );
}

const networkOf = (explorerQuery: string): string =>
  explorerQuery.includes('cluster=devnet') ? 'Solana Devnet' : 'This test network';
