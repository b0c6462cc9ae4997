/** Exhausts the connections of a PostgreSQL, so that its other clients get none. */
import pg from 'pg';

/**
 * Takes all connections, and ends those of clients with these names (patterns of LIKE), which then get no new one. The
 * returned function releases them.
 */
export async function takeAllConnections(url: string, names: readonly string[]): Promise<() => Promise<void>> {
  const taken: pg.Client[] = [];
  async function takeWhatIsFree(): Promise<void> {
    for (;;) {
      const client = new pg.Client({ connectionString: url, application_name: 'exhaust' });
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
  /** Ends these clients' connections and counts the others, except new ones that have no name yet. */
  async function countTaken(): Promise<number> {
    const client = taken[0]!;
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE ANY ($1)', [
      names,
    ]);
    const { rows } = await client.query(
      `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND application_name <> '' AND NOT application_name LIKE ANY ($1)`,
      [names],
    );
    return rows[0].count;
  }
  await takeWhatIsFree();
  const { rows } = await taken[0]!.query('SHOW max_connections');
  while ((await countTaken()) < Number(rows[0].max_connections)) await takeWhatIsFree();
  return async () => {
    await Promise.all(taken.map((client) => client.end()));
  };
}
