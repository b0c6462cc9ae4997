/**
 * `npm run migrate`: creates the marketplace on a cluster where the program is deployed, as `anchor migrate` would, for
 * those who do not have Anchor's command line. Running it again changes nothing.
 */
import anchor from '@coral-xyz/anchor';
import { Command } from 'commander';
import deploy from '../migrations/deploy.ts';
import { runScript } from './options.ts';

const SETTINGS = `
Settings come from the environment:

  ANCHOR_PROVIDER_URL   JSON-RPC address of the cluster
  ANCHOR_WALLET         keypair file of the program's upgrade authority, who becomes the admin
  RELAY_AUTHORITIES     addresses that relays sign with, comma between, at most eight
  USDC_MINT             mint to settle in; needed except on mainnet and devnet`;

async function migrate(): Promise<void> {
  try {
    await deploy(anchor.AnchorProvider.env());
  } catch (error) {
    console.error(`${(error as Error).message}\n${SETTINGS}`);
    process.exit(1);
  }
}

// Ends the process, which the provider's WebSocket would keep alive.
await runScript(
  new Command('npm run migrate')
    .description('Creates config and treasury.')
    .addHelpText('after', SETTINGS)
    .action(migrate),
);
