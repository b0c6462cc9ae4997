/**
 * Sets up the chain before the API starts: the program, a mint, the marketplace's config and treasury, and money for
 * everyone. Each step checks first, so a chain that is complete stays unchanged.
 */
import { type Connection, type Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import { readConfig } from '../../migrations/deploy.ts';
import { callRpc } from '../cli/surfpool.ts';
import { upgradeKeyOf } from '../sdk/program/foreign.ts';
import {
  type Config,
  decodeOwn,
  findCreator,
  findProgramData,
  PROGRAM_ID,
  relayAuthoritiesOf,
  setCreatorVerified,
} from '../sdk/program/program.ts';
import { Refusal } from '../sdk/wallet/refusal.ts';
import { originOf } from '../sdk/wire/secrets.ts';
import type { LocalChain } from './chain.ts';
import { provideSol, provideUsdc } from './funding.ts';
import type { Identities } from './identities.ts';
import { createMockUsdc, deployProgram, initializeMarketplace, sendAndConfirm } from './network.ts';
import { commandLine, validatorCommand } from './validatorCommand.ts';

/** Adds what the chain lacks, and returns the marketplace's config. `dataDir` holds the identities' keypairs. */
export async function setUpChain(chain: LocalChain, identities: Identities, dataDir: string): Promise<Config> {
  await Promise.all([provideProgram(chain, identities, dataDir), provideSol(chain, identities)]);
  const config = await provideMarketplace(chain, identities);
  await Promise.all([
    provideUsdc(chain, identities, config.usdcMint),
    provideBadge(chain.connection, config, identities),
  ]);
  return config;
}

async function provideProgram(chain: LocalChain, { admin }: Identities, dataDir: string): Promise<void> {
  const program = await chain.connection.getAccountInfo(PROGRAM_ID);
  if (!chain.isSurfpool) {
    if (program?.executable) return;
    throw new Refusal(
      `The program ${PROGRAM_ID} is not deployed on ${originOf(chain.rpcUrl)}. The keypair of its address is not published, so a ` +
        'local validator must load the program at genesis. Stop that node, run this instead, and start again:\n' +
        `  npm run validator -- --reset\nwhich runs:\n  ${commandLine([...validatorCommand(dataDir), '--reset'])}`,
    );
  }
  // Setting the authority is the last step of a deployment by cheat code. Until then it may have been interrupted.
  const isComplete = program?.executable && !(await readUpgradeAuthority(chain))?.equals(SystemProgram.programId);
  if (!isComplete) await deployProgram(chain.rpcUrl, { programId: PROGRAM_ID, upgradeAuthority: admin.publicKey });
}

async function provideMarketplace(chain: LocalChain, identities: Identities): Promise<Config> {
  const { admin, relayAuthority, usdcMint, mintAuthority } = identities;
  const existing = await readConfig(chain.connection);
  if (existing) {
    requireOurs(existing, chain, relayAuthority);
    return existing;
  }
  await becomeUpgradeAuthority(chain, admin);
  const mint = await createMockUsdc(chain.connection, {
    payer: admin,
    mint: usdcMint,
    mintAuthority: mintAuthority.publicKey,
  });
  const created = await initializeMarketplace(chain.connection, {
    upgradeAuthority: admin,
    payer: admin,
    admin: admin.publicKey,
    relayAuthorities: [relayAuthority.publicKey],
    usdcMint: mint,
    // The demo agents are called far more often than their collateral would cover.
    exposureMultiple: 0,
  });
  requireOurs(created, chain, relayAuthority);
  return created;
}

function requireOurs(config: Config, chain: LocalChain, relayAuthority: Keypair): void {
  const named = relayAuthoritiesOf(config);
  if (named.some((authority) => authority.equals(relayAuthority.publicKey))) return;
  throw new Refusal(
    `The marketplace on ${originOf(chain.rpcUrl)} has another relay authority, ${named.join(', ')}; that of this directory is ` +
      `${relayAuthority.publicKey}. Start with the DATA_DIR that created it, or put its keypair into ` +
      'DATA_DIR/demo/relay-authority.json, or use a fresh chain.',
  );
}

/**
 * Only the upgrade authority may create the marketplace. On a Surfpool the admin can become it; elsewhere a person must
 * act.
 */
async function becomeUpgradeAuthority(chain: LocalChain, admin: Keypair): Promise<void> {
  const authority = await readUpgradeAuthority(chain);
  if (authority?.equals(admin.publicKey)) return;
  if (chain.isSurfpool) {
    const addresses = [PROGRAM_ID, admin.publicKey].map((address) => address.toBase58());
    await callRpc(chain.rpcUrl, 'surfnet_setProgramAuthority', addresses);
    return;
  }
  throw new Refusal(
    `Only the program's upgrade authority, ${authority ?? 'nobody'}, can create the marketplace on ${originOf(chain.rpcUrl)}; ` +
      `the admin of this directory is ${admin.publicKey}. Put the authority's keypair into DATA_DIR/demo/admin.json, or ` +
      'transfer the authority with `solana program set-upgrade-authority`.',
  );
}

async function readUpgradeAuthority({ connection }: LocalChain): Promise<PublicKey | null> {
  const account = await connection.getAccountInfo(findProgramData());
  const key = account && upgradeKeyOf(account.data);
  return key && new PublicKey(key);
}

/** Gives creator A the verification badge. */
async function provideBadge(connection: Connection, config: Config, { admin, creators }: Identities): Promise<void> {
  const creator = creators.a.publicKey;
  const account = await connection.getAccountInfo(findCreator(creator));
  if (decodeOwn('CreatorProfile', account)?.verified) return;
  // If another admin is in charge, only that admin can give the badge; the marketplace works without it.
  if (!config.admin.equals(admin.publicKey)) return;
  const instruction = setCreatorVerified({ admin: admin.publicKey, payer: admin.publicKey, creator, verified: true });
  await sendAndConfirm(connection, [instruction], [admin]);
}
