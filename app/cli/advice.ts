/** What this command line can add to a refusal of the wallet library: which command or option helps. */
import type { Refusal } from '../sdk/wallet/refusal.ts';
import { readLocalNetwork } from './config.ts';

const ADVICE: Record<string, string> = {
  service_unreachable: 'Is the marketplace running (`npm start`)?',
  node_unknown: 'This command needs only a Solana node: name one by --rpc-url.',
  delegate_taken: '--replace-delegate takes its place.',
  SigningKeyTaken: '`npm run cli -- keys new FILE` makes another.',
  CollateralBelowTier: '`listing top-up` adds to it.',
};

/** The refusal's message, and what to do about it where a command helps. */
export function explain(refusal: Refusal): string {
  const { code, message } = refusal;
  const advice = code === 'funds_missing' ? fundingAdvice(refusal) : ADVICE[code ?? ''];
  return advice ? `${message} ${advice}` : message;
}

/** How a wallet gets money on the local network; null on any other chain. */
function fundingAdvice({ rpcUrl, wallet }: Refusal): string | null {
  if (readLocalNetwork()?.rpc_url !== rpcUrl) return null;
  return `On this local network: \`npm run cli -- local fund ${wallet} --sol 1 --usdc 100\`.`;
}
