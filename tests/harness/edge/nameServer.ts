/** A DNS server on this computer, over UDP, with answers chosen by a test, such as forbidden addresses. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import ipaddr from 'ipaddr.js';

/** Records of a name. With several lists of addresses, each query gets the next list; the last one is repeated. */
export interface Records {
  A?: string[] | string[][];
  AAAA?: string[] | string[][];
  CNAME?: string;
}

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;
const CLASS_INTERNET = 1;
/** Flags: response, authoritative, recursion available. */
const FLAGS = 0x8580;
const NAME_ERROR = 3;

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** The queried name in lower case, and the offset after it. */
function decodeName(packet: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = packet[at]!; length > 0; length = packet[at]!) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}

/** One resource record with a time to live of 0, so that it is not cached. */
function encodeRecord(name: string, type: keyof typeof TYPES, value: string): Buffer {
  const data = type === 'CNAME' ? encodeName(value) : Buffer.from(ipaddr.parse(value).toByteArray());
  const head = Buffer.alloc(10);
  head.writeUInt16BE(TYPES[type], 0);
  head.writeUInt16BE(CLASS_INTERNET, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), head, data]);
}

export async function startNameServer(zone: Record<string, Records>) {
  /** The ids of the queries for each name and type. */
  const asked = new Map<string, number[]>();
  const socket = createSocket('udp4');

  /** A query that is sent again because its answer was late has the same id, and gets the same addresses. */
  function addressesOf(name: string, type: 'A' | 'AAAA', id: number): string[] {
    const lists = zone[name]?.[type] ?? [];
    const turns: string[][] = lists.every((entry) => typeof entry === 'string') ? [lists] : (lists as string[][]);
    const key = `${name} ${type}`;
    const ids = asked.get(key) ?? [];
    if (!ids.includes(id)) ids.push(id);
    asked.set(key, ids);
    return turns[Math.min(ids.indexOf(id), turns.length - 1)] ?? [];
  }

  /** All records that answer the query, aliases first. */
  function answersTo(name: string, type: 'A' | 'AAAA', id: number): Buffer[] {
    const alias = zone[name]?.CNAME;
    if (alias) return [encodeRecord(name, 'CNAME', alias), ...answersTo(alias, type, id)];
    return addressesOf(name, type, id).map((address) => encodeRecord(name, type, address));
  }

  socket.on('message', (question, from) => {
    const { name, end } = decodeName(question, 12);
    const type = question.readUInt16BE(end) === TYPES.AAAA ? 'AAAA' : 'A';
    const answers = answersTo(name, type, question.readUInt16BE(0));
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
    /** In the format of `dns.setServers`. */
    address: `127.0.0.1:${socket.address().port}`,
    /** Number of queries for a name, without those sent again. */
    questions: (name: string, type: 'A' | 'AAAA') => asked.get(`${name} ${type}`)?.length ?? 0,
    close: () => socket.close(),
  };
}
