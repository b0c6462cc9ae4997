/** A log that cannot be written, because its disk is full or its reader has stopped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { logToFile } from '../../../app/process/logDestination.ts';
import { createLog } from '../../../app/relay/log.ts';
import { untilFound } from '../../harness/edge/until.ts';
import { useFolder } from '../../harness/folder.ts';

const LINES = 20_000;
const MODULES = `
  import { droppedLines } from './app/process/logDestination.ts';
  import { createLog } from './app/relay/log.ts';
  const log = createLog('info');
  for (let slot = 0; slot < ${LINES}; slot++) log.info({ slot }, 'x'.repeat(100));`;

function run(script: string, stdout: 'pipe' | number): ChildProcess {
  const argv = ['--import', 'tsx', '--input-type=module', '-e', MODULES + script];
  return spawn(process.execPath, argv, {
    cwd: join(import.meta.dirname, '..', '..', '..'),
    stdio: ['ignore', stdout, 'pipe', 'ipc'],
  });
}

describe('a log that cannot be written', () => {
  it('does not delay a process whose reader has stopped; each line is written whole later, or counted', async () => {
    const child = run(
      `process.send(droppedLines());
       process.once('message', () => { log.info('last'); process.disconnect(); });`,
      'pipe',
    );
    const [dropped] = (await once(child, 'message')) as [number];
    expect(dropped).to.be.above(0).and.below(LINES);
    let printed = '';
    child.stdout!.on('data', (chunk) => {
      printed += String(chunk);
    });
    await untilFound('what waited is written', () =>
      printed.split('\n').length - 1 === LINES - dropped ? true : null,
    );
    const closed = once(child, 'close');
    child.send('go on');
    expect((await closed)[0]).to.equal(0);
    const lines = printed.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).slot).slice(0, -1)).to.deep.equal([...Array(LINES - dropped).keys()]);
    expect(JSON.parse(lines.at(-1)!).msg).to.equal('last');
  });
});

describe('a log file', () => {
  const folder = useFolder('log');

  it('is rotated at its size, and two old ones are kept', () => {
    const log = createLog('info', logToFile(join(folder, 'a.log'), { maxFileBytes: 10_000 }));
    for (let slot = 0; slot < 1_000; slot++) log.info({ slot }, 'line');
    expect(readdirSync(folder).sort()).to.deep.equal(['a.log', 'a.log.1', 'a.log.2']);
    const texts = ['a.log.2', 'a.log.1', 'a.log'].map((name) => readFileSync(join(folder, name), 'utf8'));
    for (const old of texts.slice(0, 2)) expect(old.length).to.be.within(10_000, 10_200);
    const slots = texts.flatMap((one) => one.trim().split('\n').filter(Boolean)).map((line) => JSON.parse(line).slot);
    expect(slots).to.deep.equal([...Array(slots.length).keys()].map((place) => 1_000 - slots.length + place));
  });
});
