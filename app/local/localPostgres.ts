/** The PostgreSQL of `npm start -- --postgres`: in the data directory, for as long as everything runs. */
import { join } from 'node:path';
import { administer, type PostgresServer, startPostgres } from './postgres.ts';
import type { Shutdown } from './shutdown.ts';

export interface LocalPostgres {
  /** The URL of a database, which is made where it is missing. */
  provide(database: string): Promise<string>;
}

/** Begins to start it; what fails is told by whoever needs it. One that ends by itself ends everything. */
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
  // One that is still starting ends with this process.
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
