/** Adds this command line's advice to a refusal of the wallet library: the command or option that helps. */
import type { Refusal } from '../sdk/wallet/refusal.ts';
import { own } from '../sdk/wire/own.ts';
import { readLocalNetwork } from './config.ts';

const ADVICE: Record<string, string> = {
  service_unreachable: 'Is the marketplace running (`npm start`)?',
  node_unknown: 'This command needs only a Solana node. Give its URL with --rpc-url.',
  delegate_taken: 'To replace it, use --replace-delegate.',
  SigningKeyTaken: 'To create another key file, run `npm run cli -- keys new FILE`.',
  CollateralBelowTier: 'To add collateral, use `listing top-up`.',
};

/** The refusal's message, with advice if a command helps. */
export function explain(refusal: Refusal): string {
  const { code, message } = refusal;
  const advice = code === 'funds_missing' ? fundingAdvice(refusal) : own(ADVICE, code ?? '');
  return advice ? `${message} ${advice}` : message;
}

/** Advice for funding a wallet on the local network; null on any other chain. */
function fundingAdvice({ rpcUrl, wallet }: Refusal): string | null {
  if (readLocalNetwork()?.rpc_url !== rpcUrl) return null;
  return `On this local network: \`npm run cli -- local fund ${wallet} --sol 1 --usdc 100\`.`;
}
