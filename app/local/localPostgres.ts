/** The PostgreSQL of `npm start -- --postgres`: stored in the data directory, started and stopped with the rest. */
import { join } from 'node:path';
import { administer, type PostgresServer, startPostgres } from './postgres.ts';
import type { Shutdown } from './shutdown.ts';

export interface LocalPostgres {
  /** The URL of a database, created if missing. */
  provide(database: string): Promise<string>;
}

/** Starts it in the background; `provide` reports a failure. If it ends unexpectedly, everything ends. */
export function openLocalPostgres(dataDir: string, shutdown: Shutdown): LocalPostgres {
  const starting = startPostgres({
    folder: join(dataDir, 'postgres'),
    onEnd: (end) => void shutdown.stop(`PostgreSQL has ended (${end}); stopping ...`, 1),
  });
  let running: PostgresServer | null = null;
  starting.then(
    (server) => {
      running = server;
    },
    () => undefined,
  );
  // A server that is still starting ends with this process.
  shutdown.onStop(() => running?.stop());
  return {
    async provide(database) {
      const server = await starting;
      const found = await administer(server, `SELECT 1 FROM pg_database WHERE datname = '${database}'`);
      if (found.length === 0) await administer(server, `CREATE DATABASE ${database}`);
      return server.url(database);
    },
  };
}
