/** The PostgreSQL of `npm run drill` and of tests names what it lacks. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { postgresFolder, startPostgres } from '../../app/local/postgres.ts';
import { Refusal } from '../../app/sdk/wallet/refusal.ts';
import { newDirectory } from './start.ts';

describe('a PostgreSQL of our own', () => {
  it('names what to install when PostgreSQL is missing or differs from the version of the data', async () => {
    expect(() => postgresFolder(undefined, [])).to.throw(Refusal, 'apt-get install postgresql;');
    const folder = join(newDirectory(), 'postgres');
    mkdirSync(folder);
    writeFileSync(join(folder, 'PG_VERSION'), '9\n');
    const error = await startPostgres({ folder }).catch((thrown) => thrown);
    expect(error).to.be.instanceOf(Refusal);
    expect(error.message).to.include('PostgreSQL 9, which is not installed').and.include('postgresql-9');
  });

  it('refuses a folder whose name is too long for a socket, before it creates anything', async () => {
    const folder = join(newDirectory(), 'x'.repeat(100));
    const error = await startPostgres({ folder }).catch((thrown) => thrown);
    expect(error.message).to.include('too long for a socket path (at most 107 bytes)');
    expect(existsSync(folder)).to.equal(false);
  });
});
