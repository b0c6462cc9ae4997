/** `listing`: a creator's agents. */
import { Command } from 'commander';
import { Refusal } from '../../sdk/wallet/refusal.ts';
import { describeSchemaRules } from '../../sdk/wire/schemaKeywords.ts';
import { type CommonOptions, fromCaller } from '../config.ts';
import { printResult, report } from '../output.ts';
import {
  type Address,
  open,
  openOnChain,
  publicKeyOf,
  readWallet,
  toAddress,
  toAmount,
  withMarketplace,
  withWallet,
} from './options.ts';

const FILE_HELP = `
FILE.json describes the agent; examples/agent.json is an example:
  name, tagline, description, display_name   texts; tagline is one sentence
  endpoint                                   URL of your server, ending in /execute
  input_schema, output_schema                JSON Schema of \`parameters\` and of the result
  tags                                       1 to 5 of research, code, legal, finance, data, social, security,
                                             writing, sql, monitoring; and up to 5 of your own
  price_usdc                                 price of one execution, such as 0.25
  timeout_seconds, min_timeout_seconds       maximum (and default) and minimum timeout that a caller may set
  signing_key                                optional: the key file, instead of --signing-key;
                                             \`npm run cli -- keys new FILE\` makes one
  test                                       {task, parameters} that your agent can complete, for the test;
                                             optional if input_schema has no required fields
  picture                                    optional: a PNG, JPEG or WebP file of at most 24 KiB and
                                             512 x 512 pixels
  metadata_uri                               optional: another URL of this description

${describeSchemaRules().join('\n').replaceAll('`', '')}`;

interface ListingOptions extends CommonOptions {
  signingKey?: string;
  payout?: Address;
}

export function listingCommands(): Command {
  const group = new Command('listing').description('publish and manage your agents');
  addCreate(group);
  addUpdate(group);
  addPause(group);
  addRotateKey(group);
  addCollateral(group);
  addShow(group);
  return group;
}

function addCreate(group: Command): void {
  withWallet(group.command('create'))
    .description(
      'list an agent: store its description, test its endpoint, then sign one transaction that lists it and deposits its collateral',
    )
    .argument('<file.json>', 'the description of the agent')
    .option('--signing-key <path>', "key file that signs this agent's results; use a different key for each agent")
    .option('--payout <address>', "USDC account that receives payments (default: the wallet's own)", toAddress)
    .addHelpText('after', FILE_HELP)
    .action(async (path: string, options: ListingOptions) => {
      const { createListing, untilShown } = await import('../../sdk/wallet/listings.ts');
      const { readListingFile } = await import('../listingFile.ts');
      const draft = readListingFile(fromCaller(path));
      const signingKey = await readSigningKey(
        options.signingKey ? fromCaller(options.signingKey) : draft.signingKeyPath,
      );
      const wallet = await readWallet(options);
      const { payout } = options;
      const listing = {
        wallet,
        signingKey,
        draft,
        onProgress: report,
        ...(payout && { payout: await publicKeyOf(payout) }),
      };
      const marketplace = await open(options);
      const listed = await createListing(marketplace, listing);
      if (!(await untilShown(marketplace, listed.agent_id)))
        report('The agent is listed on-chain, but the marketplace does not show it yet.');
      printResult(listed, options.json);
    });
}

function addUpdate(group: Command): void {
  withWallet(group.command('update'))
    .description("replace an agent's description, price, timeouts, tags or payout account")
    .argument('<agent_id>', 'the agent', toAddress)
    .argument('<file.json>', 'the complete new description')
    .option('--payout <address>', 'USDC account that receives payments (default: unchanged)', toAddress)
    .addHelpText('after', FILE_HELP)
    .action(async (agent: Address, path: string, options: ListingOptions) => {
      const { updateListing } = await import('../../sdk/wallet/listings.ts');
      const { readListingFile } = await import('../listingFile.ts');
      const draft = readListingFile(fromCaller(path));
      const wallet = await readWallet(options);
      const { payout } = options;
      const update = {
        wallet,
        agentId: await publicKeyOf(agent),
        draft,
        onProgress: report,
        ...(payout && { payout: await publicKeyOf(payout) }),
      };
      printResult(await updateListing(await open(options), update), options.json);
    });
}

function addPause(group: Command): void {
  for (const [name, status] of [
    ['pause', 'paused'],
    ['resume', 'active'],
  ] as const) {
    withWallet(group.command(name))
      .description(status === 'paused' ? 'refuse new executions until `resume`' : 'accept executions again')
      .argument('<agent_id>', 'the agent', toAddress)
      .action(async (agent: Address, options: CommonOptions) => {
        const { changeStatus } = await import('../../sdk/wallet/upkeep.ts');
        const wallet = await readWallet(options);
        const signature = await changeStatus(await openOnChain(options), {
          wallet,
          agentId: await publicKeyOf(agent),
          status,
        });
        printResult({ agent_id: agent, status, signature }, options.json);
      });
  }
}

function addRotateKey(group: Command): void {
  withWallet(group.command('rotate-key'))
    .description(
      'change the signing key. First add the new key to your server; remove the old key when the maximum timeout has passed',
    )
    .argument('<agent_id>', 'the agent', toAddress)
    .requiredOption('--signing-key <path>', 'key file of the new key; it must never have signed for another agent')
    .action(async (agent: Address, options: CommonOptions & { signingKey: string }) => {
      const { replaceSigningKey } = await import('../../sdk/wallet/upkeep.ts');
      const wallet = await readWallet(options);
      const signingKey = await readSigningKey(fromCaller(options.signingKey));
      printResult(
        await replaceSigningKey(await openOnChain(options), { wallet, agentId: await publicKeyOf(agent), signingKey }),
        options.json,
      );
    });
}

/** Adds the commands for collateral, from the first addition to its return. */
function addCollateral(group: Command): void {
  withWallet(group.command('top-up'))
    .description("add to an agent's collateral, for example after a slash or before a higher price")
    .argument('<agent_id>', 'the agent', toAddress)
    .argument('<usdc>', 'amount to add', toAmount)
    .action(async (agent: Address, amount: bigint, options: CommonOptions) => {
      const { topUp } = await import('../../sdk/wallet/upkeep.ts');
      const wallet = await readWallet(options);
      printResult(
        await topUp(await openOnChain(options), { wallet, agentId: await publicKeyOf(agent), amount }),
        options.json,
      );
    });

  for (const [name, about, action] of [
    [
      'delist',
      'remove an agent from the marketplace permanently; `show` says when its collateral can be returned',
      'delist',
    ],
    [
      'return-collateral',
      "return a delisted agent's collateral to its creator's USDC account; anyone can do this",
      'sendCollateralBack',
    ],
    [
      'sweep-forfeits',
      "move the forfeited part of an agent's collateral to the treasury when it is due; anyone can do this",
      'sendForfeits',
    ],
  ] as const) {
    withWallet(group.command(name))
      .description(about)
      .argument('<agent_id>', 'the agent', toAddress)
      .action(async (agent: Address, options: CommonOptions) => {
        const upkeep = await import('../../sdk/wallet/upkeep.ts');
        const wallet = await readWallet(options);
        const agentId = await publicKeyOf(agent);
        printResult(await upkeep[action](await openOnChain(options), { wallet, agentId }), options.json);
      });
  }
}

function addShow(group: Command): void {
  withMarketplace(group.command('show'))
    .description('show an agent as it is on the chain: terms, status, collateral')
    .argument('<agent_id>', 'the agent', toAddress)
    .action(async (agent: Address, options: CommonOptions) => {
      const { showListing } = await import('../../sdk/wallet/upkeep.ts');
      printResult(await showListing(await openOnChain(options), await publicKeyOf(agent)), options.json);
    });
}

async function readSigningKey(path: string | null): Promise<Uint8Array> {
  const { readSecretKey } = await import('../wallet.ts');
  if (path !== null) return readSecretKey(path, 'the signing key');
  throw new Refusal(
    'The signing key is missing. Give --signing-key PATH, or signing_key in the file. To create one, run `npm run cli -- keys new FILE`.',
  );
}
