import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for the tests of a suite. It is removed after all other hooks of the suite. */
export function useFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  before(function () {
    this.test!.parent!.afterAll(() => rmSync(folder, { recursive: true, force: true }));
  });
  return folder;
}
