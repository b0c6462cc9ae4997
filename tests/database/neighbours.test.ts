/**
 * Two releases that follow each other, on one ledger and one index: the newer one migrates what the older one has made;
 * the older one starts on what the newer one has migrated, or refuses it and says the way back. On both databases.
 */
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MIGRATIONS, migrate, migratePostgres } from '../../app/database/migrate.ts';
import { openDatabase } from '../../app/database/open.ts';
import { SCHEMAS } from '../../app/database/postgres.ts';
import { indexPath, ledgerPath, openLedger } from '../../app/relay/ledger/open.ts';
import { openFitting, openPlace } from '../../indexer/queries/open.ts';
import { useFolder } from '../harness/folder.ts';
import { emptyPostgres } from '../harness/postgres.ts';

type Database = keyof typeof MIGRATIONS;
const OLDER_RUN = '-- Older releases run on it.\n';

describe('two releases on one database', () => {
  const folder = useFolder('releases');

  /** The migrations of the release before, without the last one, or of the next, with one more. */
  function release(of: Database, name: string, next?: string): string {
    const made = join(folder, `${name}-${of}`);
    rmSync(made, { recursive: true, force: true });
    mkdirSync(made, { recursive: true });
    cpSync(MIGRATIONS[of], made, { recursive: true });
    const names = [...new Set(readdirSync(made).map((file) => file.split('.')[0]!))].sort();
    if (next !== undefined) writeFileSync(join(made, `${String(names.length + 1).padStart(4, '0')}_next.sql`), next);
    else
      for (const ending of ['sql', 'sqlite.sql', 'pg.sql'])
        rmSync(join(made, `${names.at(-1)}.${ending}`), { force: true });
    return made;
  }

  for (const kind of ['SQLite', 'PostgreSQL'] as const) {
    describe(`on ${kind}`, function () {
      this.timeout(120_000);
      let made = 0;

      /** An empty place for a ledger and an index, and how a release migrates them. */
      async function newPlace() {
        made += 1;
        const dataDir = join(folder, `${kind}-${made}`);
        const databaseUrl = kind === 'SQLite' ? null : await emptyPostgres();
        const index = databaseUrl ?? indexPath(dataDir);
        async function apply(of: Database, migrations: string): Promise<void> {
          if (databaseUrl !== null) return migratePostgres(databaseUrl, SCHEMAS[of], migrations);
          const { sqlite, close } = openDatabase((of === 'index' ? indexPath : ledgerPath)(dataDir));
          migrate(sqlite, migrations);
          close();
        }
        /** What this release says when it opens the database; null if it opens it. */
        const open = (of: Database): Promise<string | null> =>
          (of === 'index' ? openPlace(index) : openLedger({ dataDir, databaseUrl })).then(
            async ({ close }) => {
              await close();
              return null;
            },
            (error: Error) => error.message,
          );
        /** What a command of this release says that only reads the index. */
        const read = (): Promise<string> =>
          openFitting(index).then(
            () => 'opened',
            (error: Error) => error.message,
          );
        return { apply, open, read };
      }

      for (const of of ['index', 'ledger'] as const) {
        const back =
          of === 'index'
            ? 'move it away and start the indexer: it fills a new index from the chain'
            : 'restore the backup made before the upgrade: npm run relay -- restore FILE';

        it(`the newer one migrates the ${of} of the older one`, async () => {
          const { apply, open, read } = await newPlace();
          if (of === 'ledger') await apply('index', MIGRATIONS.index);
          await apply(of, release(of, 'before'));
          if (of === 'index')
            expect(await read()).to.match(/ was made by an older release, without the migration \d{4}_\w+\. /);
          expect(await open(of)).to.equal(null);
          expect(await open(of)).to.equal(null);
        });

        it(`the older one starts on the ${of} of the newer one if its migration allows it`, async () => {
          const { apply, open } = await newPlace();
          if (of === 'ledger') await apply('index', MIGRATIONS.index);
          await apply(of, release(of, 'next', `${OLDER_RUN}CREATE TABLE more (a INTEGER);`));
          expect(await open(of)).to.equal(null);
        });

        it(`the older one refuses the ${of} of the newer one otherwise, and says the way back`, async () => {
          const { apply, open } = await newPlace();
          if (of === 'ledger') await apply('index', MIGRATIONS.index);
          await apply(of, release(of, 'next', 'CREATE TABLE more (a INTEGER);'));
          expect(await open(of))
            .to.match(/was migrated by a newer release, which has the migration \d{4}_next\. This is release \d/)
            .and.include(`instead, ${back}. See`);
        });
      }
    });
  }
});
