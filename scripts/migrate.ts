/**
 * `npm run migrate`: creates the marketplace on a cluster where the program is deployed. It replaces `anchor migrate`
 * for users without Anchor's command line. Repeating it changes nothing. With `--deploy` it deploys the program.
 */
import anchor from '@coral-xyz/anchor';
import { Command } from 'commander';
import deploy from '../migrations/deploy.ts';
import { type DeployOptions, deployProgram, returnBuffer } from './deploy/deploy.ts';
import { runScript } from './options.ts';

const SETTINGS = `
Settings come from the environment:

  ANCHOR_PROVIDER_URL   JSON-RPC address of the cluster
  ANCHOR_WALLET         keypair file of the program's upgrade authority, who becomes the admin
  RELAY_AUTHORITIES     addresses that relays sign with, at most eight, separated by commas; not for --deploy
  GUARDIAN              address that may pause opens, remove relay authorities and cancel changes; required on
                        mainnet, where it must differ from ANCHOR_WALLET's; not for --deploy
  ADMIN_DELAY_SECONDS   delay before a change that adds rights can be applied; minimum and default: 86400 on
                        mainnet, 0 elsewhere; not for --deploy
  USDC_MINT             mint that the marketplace settles in; required except on mainnet and devnet; not for
                        --deploy`;

async function migrate(options: DeployOptions): Promise<void> {
  const isDeployment = options.deploy || options.closeBuffer;
  try {
    if (options.closeBuffer) await returnBuffer(options);
    else if (options.deploy) await deployProgram(options);
    else await deploy(anchor.AnchorProvider.env());
  } catch (error) {
    console.error(isDeployment ? (error as Error).message : `${(error as Error).message}\n${SETTINGS}`);
    process.exit(1);
  }
}

// Exits the process, which the provider's WebSocket would keep alive.
await runScript(
  new Command('npm run migrate')
    .description(
      'Creates config and treasury of the marketplace; with --deploy, deploys or upgrades the program instead.',
    )
    .option('--deploy', 'show the cost of deploying the program and, with --yes, deploy it; resumes where it stopped')
    .option('--close-buffer', 'return the lamports of an interrupted deployment that you do not want to resume')
    .option('--yes', 'confirm the cost that --deploy shows, and deploy')
    .option('--program-keypair <file>', "the program's key, for the first deployment (default: the committed id)")
    .option('--program <file>', 'the program to deploy (default: the committed artifact)')
    .option(
      '--buffer-keypair <file>',
      'the key of the buffer, created if the file is missing (default: next to ANCHOR_WALLET)',
    )
    .option(
      '--skip-feature-check',
      'deploy even if features have no account, because the cluster has had them since genesis',
    )
    .option('--json', 'print the result of --deploy or --close-buffer as JSON')
    .addHelpText('after', SETTINGS)
    .action(migrate),
);
