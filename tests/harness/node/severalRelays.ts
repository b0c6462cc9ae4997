/** Two relays, each with its own authority, with a working and a standby indexer on one PostgreSQL. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { startIndexers } from './indexers.ts';
import { startMarketplace } from './marketplace.ts';
import { replaceRelayAuthorities } from './relayAuthorities.ts';

export type SeveralRelays = Awaited<ReturnType<typeof startSeveralRelays>>;

/** Starts everything except the relays; `startRelay` starts those. */
export async function startSeveralRelays(options: Parameters<typeof startMarketplace>[0]) {
  const market = await startMarketplace({ ...options, here: true });
  await market.relay.kill();
  const successor = Keypair.generate();
  await market.node.fundSol(successor.publicKey, 10e9);
  const authorities = [market.authority.publicKey, successor.publicKey];
  await replaceRelayAuthorities(market.node.connection, market.node.payer, authorities);
  const path = join(market.dataDir, 'successor.json');
  writeFileSync(path, JSON.stringify([...successor.secretKey]), { mode: 0o600 });
  const indexers = await startIndexers(market);
  return {
    market,
    indexers,
    /** Authorities of the relays, in their order. */
    authorities,
    /** Starts a relay by number. `environment` overrides its settings; `hear` gets its output. */
    startRelay(number: number, environment: NodeJS.ProcessEnv = {}, hear?: (text: string) => void) {
      const own = number === 0 ? {} : { RELAY_KEYPAIR: path };
      return market.startRelayProcess({ WITHOUT_INDEXER: '1', ...own, ...environment }, hear);
    },
    /** Stops everything except the relays. */
    async stop() {
      await indexers.stop();
      await market.stop();
    },
  };
}
