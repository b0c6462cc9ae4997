/** The log's filter: its list of fields, and every line of the source that logs. main.test.ts has a run full of secrets. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLog, FIELDS } from '../../../app/relay/log.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

describe('the list of fields', () => {
  function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown> {
    const lines: string[] = [];
    write(createLog('debug', { write: (line: string) => void lines.push(line) }));
    expect(lines).to.have.length(1);
    const { time, pid, hostname, ...rest } = JSON.parse(lines[0]!);
    return rest;
  }

  it('passes known fields, and drops every other field and every value of another shape', () => {
    const known = { execution_id: '0b9e2f3a-7f63-8a1e-9f00-000000000001', status: 200 };
    const unknown = { task: 'canary', parameters: { a: 1 }, authorization: 'Bearer x', result: 'y' };
    const strange = { route: '/v1/Canary?task=x', url: 'http://x/canary', method: 'a b', signature: '{"a":1}' };
    const others = { passed: 'yes', key_id: 'crtx_test_x', constructor: 'x', toString: 'x' };
    const rest = { level: 30, msg: 'request' };
    expect(logged((log) => log.info({ ...known, ...unknown, ...strange, ...others }, 'request'))).to.deep.equal({
      ...known,
      ...rest,
    });
    expect(logged((log) => log.info({ execution_id: 'canary', status: '200' }, 'request'))).to.deep.equal(rest);
  });

  it('logs the kind and place of an error, without the text it quotes', () => {
    const told = (error: unknown) => String(logged((log) => log.error({ error }, 'fault')).error);
    expect(told('Error: connect ECONNREFUSED 127.0.0.1:1')).to.equal('Error: connect ECONNREFUSED 127.0.0.1:1');
    expect(told('TypeError: cannot read "canary \\" x" of \'canary\' or `canary`')).to.equal(
      'TypeError: cannot read … of … or …',
    );
    let syntax: unknown;
    try {
      JSON.parse('{"task": canary}');
    } catch (error) {
      syntax = error;
    }
    expect(told(syntax))
      .to.match(/^SyntaxError\n.*log\.test\.ts/)
      .and.not.include('canary');
    expect(told(`SyntaxError: canary\n    at canary (file:canary)`)).to.not.match(/^.*canary$/m);
    expect(told({ code: -32_000, message: 'the node is "canary"' })).to.equal('Object: the node is …');
    expect(told({ task: 'canary' })).to.equal('Object: without a message');
    expect(told(`Error: ${'long '.repeat(200)}`).length).to.equal(300);
  });

  it('logs no message of an error, and no values inside a message', () => {
    expect(logged((log) => log.error(new Error('x "canary"')))).to.include({ msg: 'fault' });
    expect(logged((log) => log.info('%s', 'canary'))).to.deep.equal({ level: 30, msg: '%s' });
  });

  it('contains every field that relay and indexer log', () => {
    const files = ['app/relay', 'indexer'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(ROOT, folder, name)),
    );
    const unknown: string[] = [];
    let calls = 0;
    for (const file of files) {
      for (const [, fields] of readFileSync(file, 'utf8').matchAll(
        /\blog\s*\.(?:debug|info|warn|error)\(\s*\{([^}]*)\}/g,
      )) {
        calls += 1;
        const names = fields!.split(',').map((part) => part.split(':')[0]!.trim());
        unknown.push(
          ...names.filter((name) => name !== '' && !Object.hasOwn(FIELDS, name)).map((name) => `${file}: ${name}`),
        );
      }
    }
    expect(calls).to.be.greaterThan(20);
    expect(unknown).to.deep.equal([]);
  });
});
