/** A PostgreSQL that has no connection left for whoever works on it. */
import pg from 'pg';

/**
 * Takes all connections, also those of clients by these names (as LIKE has them), which then find none. Resolves to what
 * gives them back.
 */
export async function takeAllConnections(url: string, names: readonly string[]): Promise<() => Promise<void>> {
  const taken: pg.Client[] = [];
  async function takeWhatIsFree(): Promise<void> {
    for (;;) {
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => {});
      try {
        await client.connect();
      } catch (error) {
        if ((error as pg.DatabaseError).code !== '53300') throw error;
        return;
      }
      taken.push(client);
    }
  }
  const others = async () => {
    const cut = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE ANY ($1)';
    return (await taken[0]!.query(cut, [names])).rowCount;
  };
  await takeWhatIsFree();
  while ((await others()) !== 0) await takeWhatIsFree();
  return async () => {
    await Promise.all(taken.map((client) => client.end()));
  };
}
