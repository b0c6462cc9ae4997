// `npm run migrate`: creates the marketplace on a cluster where the program is deployed, as `anchor migrate` would, for
// those who do not have Anchor's command line. Running it again changes nothing.

import anchor from '@coral-xyz/anchor';
import deploy from '../migrations/deploy.ts';

const HELP = `npm run migrate

Creates config and treasury. Settings come from the environment:

  ANCHOR_PROVIDER_URL   JSON-RPC address of the cluster
  ANCHOR_WALLET         keypair file of the program's upgrade authority, who becomes the admin
  RELAY_AUTHORITY       address that the relay signs with
  USDC_MINT             mint to settle in; needed except on mainnet and devnet`;

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    console.log(HELP);
    return;
  }
  await deploy(anchor.AnchorProvider.env());
}

main().then(
  // The provider's WebSocket would keep the process alive.
  () => process.exit(0),
  (error: Error) => {
    console.error(`${error.message}\n\n${HELP}`);
    process.exit(1);
  },
);
