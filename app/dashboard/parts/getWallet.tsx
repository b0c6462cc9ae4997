/** How to get a wallet with money on this network. */
import { useQuery } from '@tanstack/react-query';
import { configQuery, developmentWalletsPath } from '../service.ts';
import { Away } from './links.tsx';

/** Circle's USDC on devnet, which its faucet gives. */
const CIRCLE_DEVNET_USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

export function GetWallet() {
  const { data: config } = useQuery(configQuery);
  if (developmentWalletsPath() !== '') {
    return (
      <>
        This network has free test wallets, such as “Demo caller 1”, which everybody here shares. Their USDC and SOL
        have no value.
      </>
    );
  }
  if (!config) return null;
  const app = 'A wallet is an app or browser extension, such as Phantom or Solflare. ';
  if (config.explorer_query === '')
    return <>{app}Buy USDC and a little SOL at a crypto exchange, and send both to the wallet’s address.</>;
  if (!config.explorer_query.includes('cluster=devnet'))
    return <>{app}Switch it to this test network. Ask the operator for test USDC and SOL: they have no value.</>;
  return (
    <>
      {app}Switch it to Solana Devnet. Test money is free: <Away href="https://faucet.solana.com">SOL</Away>
      {config.usdc_mint === CIRCLE_DEVNET_USDC ? (
        <>
          {' '}
          and <Away href="https://faucet.circle.com">USDC</Away> on “Solana Devnet”.
        </>
      ) : (
        ' from a faucet, USDC from the operator.'
      )}
    </>
  );
}

/** How to get USDC for an address on this network. */
export function GetUsdc() {
  const { data: config } = useQuery(configQuery);
  if (!config) return null;
  if (config.explorer_query === '') return <>Send USDC to that address.</>;
  if (developmentWalletsPath() !== '')
    return (
      <>
        The demo wallets have test USDC. The operator gives more:{' '}
        <code className="font-mono text-[0.8125rem]">npm run cli -- local fund ADDRESS --usdc 100</code>
      </>
    );
  if (config.usdc_mint !== CIRCLE_DEVNET_USDC) return <>Ask the operator for test USDC: it has no value.</>;
  return (
    <>
      Test USDC is free: <Away href="https://faucet.circle.com">Circle’s faucet</Away>, “Solana Devnet”.
    </>
  );
}
