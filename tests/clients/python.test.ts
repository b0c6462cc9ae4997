/** The Python package as its users have it: built, installed into an empty environment, and used on a real marketplace. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { TestMarketplace } from '../harness/node/marketplace.ts';
import { behavesAsTheTableSays, type Outcome, type Program, startScene } from './behaviours.ts';

const python = process.env.PY!;

function runWith(kind: string): Program {
  return (entries) =>
    new Promise<Outcome[]>((resolve, reject) => {
      const child = spawn(python, [join(import.meta.dirname, 'behaviours.py'), kind], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.on('data', (chunk) => (output += String(chunk)));
      child.on('close', (code) => (code === 0 ? resolve(JSON.parse(output)) : reject(new Error(`ended with ${code}`))));
      child.stdin.end(JSON.stringify(entries));
    });
}

describe('clients/python', function () {
  this.timeout(600_000);
  let market: TestMarketplace;
  before(async () => {
    market = await startScene();
  });
  after(() => market?.stop());

  for (const kind of ['sync', 'async']) behavesAsTheTableSays(kind, () => market, runWith(kind));
});
