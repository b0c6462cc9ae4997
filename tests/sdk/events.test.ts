/** Reading events from logs: only trustworthy lines count. borsh.test.ts decodes every event. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { decodeEventInstruction, readEvents } from '../../app/sdk/program/events.ts';
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { randomEvent } from './random.ts';

const OURS = PROGRAM_ID.toBase58();
const OTHER = 'HpeSYtSP9Z93JaFza7iBsKE2z2uiQ2rN9mymtc9ktipT';
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';

type Encoded = ReturnType<typeof randomEvent>;
const plain = ({ name, data }: Encoded) => ({ name, data });
const settled = randomEvent('ExecutionSettled');
const opened = randomEvent('ExecutionOpened');
const data = ({ bytes }: Encoded) => `Program data: ${bytes.toString('base64')}`;
const invoke = (program: string, depth: number) => `Program ${program} invoke [${depth}]`;
const success = (program: string) => `Program ${program} success`;
/** One call of the marketplace, as nodes log it. */
const call = (event: Encoded, depth = 1) => [
  invoke(OURS, depth),
  'Program log: Instruction: SettleExecution',
  invoke(TOKEN, depth + 1),
  `Program ${TOKEN} consumed 4645 of 200000 compute units`,
  success(TOKEN),
  data(event),
  `Program ${OURS} consumed 50000 of 200000 compute units`,
  success(OURS),
];

describe('sdk/events', () => {
  it('decodes an event that the program sent to itself, and nothing else', () => {
    // Anchor stores the number's bytes in reverse order.
    const tag = createHash('sha256').update('anchor:event').digest().subarray(0, 8).reverse();
    const archived = randomEvent('ExecutionsArchived');
    const data = Buffer.concat([tag, archived.bytes]);
    expect(decodeEventInstruction(data)).to.deep.equal(plain(archived));
    expect(decodeEventInstruction(archived.bytes)).to.equal(null);
    expect(decodeEventInstruction(tag.subarray(0, 7))).to.equal(null);
    expect(() => decodeEventInstruction(data.subarray(0, -1))).to.throw(RangeError, 'too early');
    expect(() => decodeEventInstruction(Buffer.concat([tag, tag]))).to.throw(RangeError, 'unknown event');
  });

  it('reads events in order, from top-level calls and from calls by other programs', () => {
    const logs = [invoke(OTHER, 1), ...call(opened, 2), ...call(settled, 2), success(OTHER), ...call(settled)];
    expect(readEvents(logs, OURS)).to.deep.equal({ events: [opened, settled, settled].map(plain), complete: true });
    expect(readEvents(logs, PROGRAM_ID)).to.deep.equal(readEvents(logs, OURS));
  });

  it('is complete without events when the program was not called', () => {
    expect(readEvents([], OURS)).to.deep.equal({ events: [], complete: true });
    expect(readEvents([invoke(OTHER, 1), success(OTHER)], OURS)).to.deep.equal({ events: [], complete: true });
  });

  describe('carried by a call of the program to itself', () => {
    const tag = Buffer.from('e445a52e51cb9a1d', 'hex');
    const carried = (event: Encoded) => Buffer.concat([tag, event.bytes]);
    const archived = randomEvent('ExecutionsArchived');
    /** The log of `archive_executions`, as nodes write it. */
    const archive = (depth = 1) => [
      invoke(OURS, depth),
      invoke(OURS, depth + 1),
      success(OURS),
      `Program ${OURS} consumed 90000 of 200000 compute units`,
      success(OURS),
    ];

    it('keeps its order among the printed events', () => {
      const logs = [...call(opened), ...archive(), invoke(OTHER, 1), ...archive(2), success(OTHER), ...call(settled)];
      const second = randomEvent('ExecutionsArchived');
      const calls = [archived, second].map(carried);
      expect(readEvents(logs, OURS, calls)).to.deep.equal({
        events: [opened, archived, second, settled].map(plain),
        complete: true,
      });
    });

    it('makes the log incomplete when its data are missing, different or too many', () => {
      expect(readEvents(archive(), OURS)).to.deep.equal({ events: [], complete: false });
      expect(readEvents([...call(opened), ...archive()], OURS).complete).to.equal(false);
      expect(readEvents(archive(), OURS, [archived.bytes]).complete).to.equal(false);
      expect(readEvents(archive(), OURS, [archived, archived].map(carried)).complete).to.equal(false);
      expect(readEvents(call(opened), OURS, [carried(archived)]).complete).to.equal(false);
    });

    it('is the only event of its instruction, and the call itself has none', () => {
      const logs = archive();
      const calls = [carried(archived)];
      expect(readEvents(logs, OURS, calls).complete).to.equal(true);
      expect(readEvents(logs.toSpliced(3, 0, data(settled)), OURS, calls).complete).to.equal(false);
      expect(readEvents(logs.toSpliced(2, 0, data(settled)), OURS, calls).complete).to.equal(false);
      const twice = logs.toSpliced(3, 0, invoke(OURS, 2), success(OURS));
      expect(readEvents(twice, OURS, [...calls, ...calls]).complete).to.equal(false);
    });

    it('is ignored from another program', () => {
      const logs = [invoke(OTHER, 1), invoke(OTHER, 2), success(OTHER), success(OTHER)];
      expect(readEvents(logs, OURS)).to.deep.equal({ events: [], complete: true });
    });
  });

  const believesNothing: [string, string[]][] = [
    ['printed by another program', [invoke(OTHER, 1), data(settled), success(OTHER)]],
    ['printed by a program that ours calls', [...call(opened).toSpliced(3, 0, data(settled))]],
    ['printed after our call has ended', [invoke(OTHER, 1), ...call(opened, 2), data(settled), success(OTHER)]],
    [
      'printed after a line that only says that we were called',
      [invoke(OTHER, 1), `Program log: ${invoke(OURS, 2)}`, data(settled), success(OTHER)],
    ],
    [
      'printed after such a line hidden behind a line break',
      [
        invoke(OTHER, 1),
        `Program log: \n${invoke(OURS, 2)}`,
        data(settled),
        `Program log: \n${success(OURS)}`,
        success(OTHER),
      ],
    ],
  ];
  it('ignores an event that the program did not print', () => {
    for (const [how, logs] of believesNothing) {
      const { events, complete } = readEvents(logs, OURS);
      expect(
        events.map(({ name }) => name),
        how,
      ).to.not.include('ExecutionSettled');
      expect(complete, how).to.equal(true);
    }
  });

  it('ignores everything from "Log truncated" on, also shorter lines that follow it', () => {
    const logs = [...call(opened), invoke(OTHER, 1), 'Log truncated', ...call(settled)];
    expect(readEvents(logs, OURS)).to.deep.equal({ events: [plain(opened)], complete: false });
    const said = [invoke(OTHER, 1), 'Program log: Log truncated', success(OTHER), ...call(settled)];
    expect(readEvents(said, OURS)).to.deep.equal({ events: [plain(settled)], complete: true });
  });

  const incomplete: [string, string[]][] = [
    ['a call without its event', call(settled).filter((line) => !line.startsWith('Program data: '))],
    [
      'two events in one call and none in another',
      [...call(settled).toSpliced(5, 0, data(settled)), ...call(settled).toSpliced(5, 1)],
    ],
    ['an event that the program sent to itself', [invoke(OURS, 1), invoke(OURS, 2), success(OURS), success(OURS)]],
    ['a call that does not end', call(settled).slice(0, -1)],
    ['an end without a call', [success(OTHER), ...call(settled)]],
    ['a call at the wrong depth', call(settled, 2)],
    ['another program ends than was called', [invoke(OTHER, 1), success(TOKEN)]],
    ['a failed call', [...call(settled).slice(0, -1), `Program ${OURS} failed: custom program error: 0x1770`]],
  ];
  it('reports an incomplete log', () => {
    for (const [what, logs] of incomplete) expect(readEvents(logs, OURS).complete, what).to.equal(false);
  });

  it('throws on an unknown event of the program', () => {
    const logs = [invoke(OURS, 1), `Program data: ${Buffer.from('unheard of').toString('base64')}`, success(OURS)];
    expect(() => readEvents(logs, OURS)).to.throw(RangeError, 'unknown event 756e686561726420');
  });

  it('rejects: event data of the program that are not base64', () => {
    const start = data(settled).slice(0, -4);
    // Letters that are none of it, a letter too few, the other alphabet, a wide letter whose lower half is one of it.
    for (const line of [`${data(settled)}!!!!`, data(settled).slice(0, -1), `${start}-_-_`, `${start}\u0141AAA`]) {
      const logs = [invoke(OURS, 1), line, success(OURS)];
      expect(() => readEvents(logs, OURS), line).to.throw(RangeError, 'the data of an event are not base64');
    }
  });
});
