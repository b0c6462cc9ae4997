/** A name server on this computer, over UDP, whose answers a test chooses: for names that lead where they must not. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import ipaddr from 'ipaddr.js';

/** What a name has. Of several lists of addresses each question takes the next, and the last for ever. */
export interface Records {
  A?: string[] | string[][];
  AAAA?: string[] | string[][];
  CNAME?: string;
}

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;
const CLASS_INTERNET = 1;
/** Response, authoritative, recursion available. */
const FLAGS = 0x8580;
const NAME_ERROR = 3;

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** The question's name, in lower case, and where it ends. */
function decodeName(packet: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = packet[at]!; length > 0; length = packet[at]!) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}

/** One resource record that may not be kept: its time to live is 0. */
function encodeRecord(name: string, type: keyof typeof TYPES, value: string): Buffer {
  const data = type === 'CNAME' ? encodeName(value) : Buffer.from(ipaddr.parse(value).toByteArray());
  const head = Buffer.alloc(10);
  head.writeUInt16BE(TYPES[type], 0);
  head.writeUInt16BE(CLASS_INTERNET, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), head, data]);
}

export async function startNameServer(zone: Record<string, Records>) {
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');

  function addressesOf(name: string, type: 'A' | 'AAAA'): string[] {
    const lists = zone[name]?.[type] ?? [];
    const turns: string[][] = lists.every((entry) => typeof entry === 'string') ? [lists] : (lists as string[][]);
    const key = `${name} ${type}`;
    const turn = asked.get(key) ?? 0;
    asked.set(key, turn + 1);
    return turns[Math.min(turn, turns.length - 1)] ?? [];
  }

  /** All that follows from a name: aliases first. */
  function answersTo(name: string, type: 'A' | 'AAAA'): Buffer[] {
    const alias = zone[name]?.CNAME;
    if (alias) return [encodeRecord(name, 'CNAME', alias), ...answersTo(alias, type)];
    return addressesOf(name, type).map((address) => encodeRecord(name, type, address));
  }

  socket.on('message', (question, from) => {
    const { name, end } = decodeName(question, 12);
    const type = question.readUInt16BE(end) === TYPES.AAAA ? 'AAAA' : 'A';
    const answers = answersTo(name, type);
    const head = Buffer.from(question.subarray(0, 12));
    head.writeUInt16BE(FLAGS | (zone[name] ? 0 : NAME_ERROR), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answers.length, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, question.subarray(12, end + 4), ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    /** As `dns.setServers` takes it. */
    address: `127.0.0.1:${socket.address().port}`,
    /** How often a name was asked for. */
    questions: (name: string, type: 'A' | 'AAAA') => asked.get(`${name} ${type}`) ?? 0,
    close: () => socket.close(),
  };
}
