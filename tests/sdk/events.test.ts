/** Reading events from logs: the table matches the IDL, real encodings decode, and only trustworthy lines count. */
import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { EVENT_FIELDS, type EventName } from '../../app/sdk/program/eventFields.ts';
import { decodeEvent, decodeEventInstruction, readEvents } from '../../app/sdk/program/events.ts';
import idlJson from '../../app/sdk/program/idl/marketplace.json' with { type: 'json' };
import { PROGRAM_ID } from '../../app/sdk/program/program.ts';
import { coder, toBorsh } from '../harness/vm/anchorCoder.ts';

const OURS = PROGRAM_ID.toBase58();
const OTHER = 'HpeSYtSP9Z93JaFza7iBsKE2z2uiQ2rN9mymtc9ktipT';
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';

const toSnake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const lowerFirst = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);

const toCamel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A type of the IDL: a struct with its fields, or an enum with its variants. */
function definitionOf(name: string) {
  const { type } = idlJson.types.find((candidate) => candidate.name === name)!;
  return type as { fields: { name: string; type: unknown }[]; variants?: { name: string }[] };
}

const fieldsOf = (name: string) => definitionOf(name).fields;

/** A sample of each IDL type, different for each field. */
function sample(type: unknown, seed: number): unknown {
  if (type === 'pubkey') return new PublicKey(new Uint8Array(32).fill(seed));
  if (type === 'u64') return 2n ** 64n - BigInt(seed);
  if (type === 'i64') return -(2n ** 62n) + BigInt(seed);
  if (type === 'u32') return 2 ** 32 - seed;
  if (type === 'u16') return 2 ** 16 - seed;
  if (type === 'u8') return 255 - seed;
  if (type === 'bool') return seed % 2 === 0;
  if (type === 'string') return `https://example.com/ü/${seed}`;
  const compound = type as { array?: ['u8', number]; vec?: unknown; option?: unknown; defined?: { name: string } };
  if (compound.option) return seed % 3 === 0 ? null : sample(compound.option, seed);
  if (compound.array) return new Uint8Array(compound.array[1]).fill(seed);
  if (compound.vec) return [sample(compound.vec, seed), sample(compound.vec, seed + 1)];
  const { fields: known, variants } = definitionOf(compound.defined!.name);
  if (variants) return lowerFirst(variants[seed % variants.length]!.name);
  const fields = known.map(({ name, type: inner }, index) => [toCamel(name), sample(inner, 2 * seed + index)]);
  return Object.fromEntries(fields);
}

function sampleEvent(name: EventName) {
  const fields = Object.entries(EVENT_FIELDS[name]);
  return { name, data: Object.fromEntries(fields.map(([key, type], index) => [key, sample(type, index + 1)])) };
}

/** The bytes that the program prints, encoded by Anchor's coder from the IDL. */
function encode({ name, data }: ReturnType<typeof sampleEvent>): Buffer {
  const { discriminator } = idlJson.events.find((event) => event.name === name)!;
  return Buffer.concat([Buffer.from(discriminator), coder.types.encode(name, toAnchor({ defined: { name } }, data))]);
}

/** A value of an IDL type in Anchor's form: an enum as { Variant: {} }. */
function toAnchor(type: unknown, value: unknown): unknown {
  const { vec, option, defined } = type as { vec?: unknown; option?: unknown; defined?: { name: string } };
  if (option) return value === null ? null : toAnchor(option, value);
  if (vec) return (value as unknown[]).map((item) => toAnchor(vec, item));
  if (!defined) return toBorsh(value);
  const { fields, variants } = definitionOf(defined.name);
  if (variants) return { [variants.find(({ name }) => lowerFirst(name) === value)!.name]: {} };
  const values = value as Record<string, unknown>;
  return Object.fromEntries(fields.map((field) => [field.name, toAnchor(field.type, values[toCamel(field.name)])]));
}

const names = Object.keys(EVENT_FIELDS) as EventName[];
const settled = sampleEvent('ExecutionSettled');
const opened = sampleEvent('ExecutionOpened');
const data = (event: ReturnType<typeof sampleEvent>) => `Program data: ${encode(event).toString('base64')}`;
const invoke = (program: string, depth: number) => `Program ${program} invoke [${depth}]`;
const success = (program: string) => `Program ${program} success`;
/** One call of the marketplace, as nodes log it. */
const call = (event: ReturnType<typeof sampleEvent>, depth = 1) => [
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
  it('knows exactly the events of the IDL, field by field', () => {
    const fromIdl = idlJson.events.map(({ name }) => [name, fieldsOf(name).map((field) => [field.name, field.type])]);
    const ours = names.map((name) => {
      return [name, Object.entries(EVENT_FIELDS[name]).map(([key, type]) => [toSnake(key), type])];
    });
    expect(Object.fromEntries(ours)).to.deep.equal(Object.fromEntries(fromIdl));
    expect(ours).to.have.length(fromIdl.length);
  });

  for (const name of names) {
    it(`decodes ${name} as Anchor encodes it, and refuses one byte more or less`, () => {
      const event = sampleEvent(name);
      const bytes = encode(event);
      expect(decodeEvent(bytes)).to.deep.equal(event);
      expect(() => decodeEvent(Buffer.concat([bytes, Buffer.from([0])]))).to.throw(RangeError, 'too many');
      expect(() => decodeEvent(bytes.subarray(0, -1))).to.throw(RangeError, 'too early');
    });
  }

  it('decodes an event that the program sent to itself, and nothing else', () => {
    // Anchor stores the number's bytes in reverse order.
    const tag = createHash('sha256').update('anchor:event').digest().subarray(0, 8).reverse();
    const archived = sampleEvent('ExecutionsArchived');
    const data = Buffer.concat([tag, encode(archived)]);
    expect(decodeEventInstruction(data)).to.deep.equal(archived);
    expect(decodeEventInstruction(encode(archived))).to.equal(null);
    expect(decodeEventInstruction(tag.subarray(0, 7))).to.equal(null);
    expect(() => decodeEventInstruction(data.subarray(0, -1))).to.throw(RangeError, 'too early');
    expect(() => decodeEventInstruction(Buffer.concat([tag, tag]))).to.throw(RangeError, 'unknown event');
  });

  it('reads zero, one and four tiers, and no more than the bytes contain', () => {
    const event = sampleEvent('ConfigUpdated');
    const withTiers = (tiers: object[]) => {
      const settings = { ...(event.data.settings as object), tiers };
      return { name: event.name, data: { ...event.data, settings } };
    };
    const tier = (seed: number) => ({ maxPrice: BigInt(seed), deposit: 2n ** 64n - BigInt(seed) });
    for (const tiers of [[], [tier(1)], [1, 2, 3, 4].map(tier)]) {
      const updated = withTiers(tiers);
      expect(decodeEvent(encode(updated))).to.deep.equal(updated);
    }
    const bytes = encode(withTiers([]));
    bytes.writeUInt32LE(2 ** 32 - 1, bytes.length - 4);
    expect(() => decodeEvent(bytes)).to.throw(RangeError, 'too early');
  });

  it('reads events in order, from top-level calls and from calls by other programs', () => {
    const logs = [invoke(OTHER, 1), ...call(opened, 2), ...call(settled, 2), success(OTHER), ...call(settled)];
    expect(readEvents(logs, OURS)).to.deep.equal({ events: [opened, settled, settled], complete: true });
    expect(readEvents(logs, PROGRAM_ID)).to.deep.equal(readEvents(logs, OURS));
  });

  it('is complete without events when the program was not called', () => {
    expect(readEvents([], OURS)).to.deep.equal({ events: [], complete: true });
    expect(readEvents([invoke(OTHER, 1), success(OTHER)], OURS)).to.deep.equal({ events: [], complete: true });
  });

  describe('carried by a call of the program to itself', () => {
    const tag = Buffer.from('e445a52e51cb9a1d', 'hex');
    const carried = (event: ReturnType<typeof sampleEvent>) => Buffer.concat([tag, encode(event)]);
    const archived = sampleEvent('ExecutionsArchived');
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
      const second = { ...archived, data: { ...archived.data, firstIndex: 7 } };
      const calls = [archived, second].map(carried);
      expect(readEvents(logs, OURS, calls)).to.deep.equal({
        events: [opened, archived, second, settled],
        complete: true,
      });
    });

    it('makes the log incomplete when its data are missing, different or too many', () => {
      expect(readEvents(archive(), OURS)).to.deep.equal({ events: [], complete: false });
      expect(readEvents([...call(opened), ...archive()], OURS).complete).to.equal(false);
      expect(readEvents(archive(), OURS, [encode(archived)]).complete).to.equal(false);
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
  for (const [how, logs] of believesNothing) {
    it(`ignores an event ${how}`, () => {
      const { events, complete } = readEvents(logs, OURS);
      expect(events.map(({ name }) => name)).to.not.include('ExecutionSettled');
      expect(complete).to.equal(true);
    });
  }

  it('ignores everything from "Log truncated" on, also shorter lines that follow it', () => {
    const logs = [...call(opened), invoke(OTHER, 1), 'Log truncated', ...call(settled)];
    expect(readEvents(logs, OURS)).to.deep.equal({ events: [opened], complete: false });
    const said = [invoke(OTHER, 1), 'Program log: Log truncated', success(OTHER), ...call(settled)];
    expect(readEvents(said, OURS)).to.deep.equal({ events: [settled], complete: true });
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
  for (const [what, logs] of incomplete) {
    it(`reports an incomplete log: ${what}`, () => {
      expect(readEvents(logs, OURS).complete).to.equal(false);
    });
  }

  it('throws on an unknown event of the program', () => {
    const logs = [invoke(OURS, 1), `Program data: ${Buffer.from('unheard of').toString('base64')}`, success(OURS)];
    expect(() => readEvents(logs, OURS)).to.throw(RangeError, 'unknown event 756e686561726420');
  });

  for (const [what, line] of [
    ['letters that are none of it', `${data(settled)}!!!!`],
    ['a letter too few', data(settled).slice(0, -1)],
    ['the other alphabet', `${data(settled).slice(0, -4)}-_-_`],
    ['a wide letter whose lower half is one of it', `${data(settled).slice(0, -4)}\u0141AAA`],
  ] as const) {
    it(`rejects: event data of the program that are not base64, ${what}`, () => {
      const logs = [invoke(OURS, 1), line, success(OURS)];
      expect(() => readEvents(logs, OURS)).to.throw(RangeError, 'the data of an event are not base64');
    });
  }
});
