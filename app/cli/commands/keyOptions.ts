/** Options of keys for several commands: limits, stored on the chain, and restrictions, stored by the service. */
import type { Connection } from '@solana/web3.js';
import { type Command, InvalidArgumentError } from 'commander';
import { constants } from '../../sdk/program/constants.ts';
import type { KeyRestrictions } from '../../sdk/wallet/apiKeys.ts';
import { ADDRESS } from '../../sdk/wire/choices.ts';
import { DEFAULT_SCOPES, KEY_SCOPES, type KeyScope } from '../../sdk/wire/keyScopes.ts';

export const DAY_SECONDS = 86_400;
export const MAX_DAYS = constants.maxGrantSeconds / DAY_SECONDS;

/** Amounts are base units. */
export interface LimitOptions {
  perExecution: bigint;
  perPeriod: bigint;
  periodSeconds: number;
  total: bigint;
  expiresInDays: number;
  /** Maximum lamports per execution. */
  maxGas: number;
}

export interface RestrictionOptions {
  scope?: KeyScope[];
  expires?: string;
  allowIp?: string[];
  agents?: string[];
}

/** Options that the marketplace stores for a key, in addition to its grant. */
export function withRestrictions(command: Command): Command {
  return command
    .option(
      '--scope <scopes>',
      `what the key may be used for, separated by commas: ${KEY_SCOPES.join(', ')} (default: ${DEFAULT_SCOPES.join(',')})`,
      toScopes,
    )
    .option(
      '--expires <time>',
      'time after which the marketplace refuses the key, such as 2027-01-31T12:00:00Z',
      toTime,
    )
    .option(
      '--allow-ip <addresses>',
      'IP addresses or blocks from which the key may be used, separated by commas',
      toList,
    )
    .option(
      '--agents <agents>',
      'agents that the key may call, separated by commas; enforced by the marketplace, not on-chain',
      toAgents,
    );
}

export function readRestrictions({ scope, expires, allowIp, agents }: RestrictionOptions): KeyRestrictions {
  return {
    ...(scope && { scopes: scope }),
    ...(expires && { expires_at: expires }),
    ...(allowIp && { allowed_ips: allowIp }),
    ...(agents && { allowed_agents: agents }),
  };
}

/** Unix seconds by the chain's clock, which the program compares with. */
export async function expiryAfter(connection: Connection, days: number): Promise<bigint> {
  const { readClock } = await import('../../sdk/wallet/connection.ts');
  return (await readClock(connection)) + BigInt(days * DAY_SECONDS);
}

export function toName(text: string): string {
  if (/^[^\p{Cc}\p{Surrogate}]{1,64}$/u.test(text)) return text;
  throw new InvalidArgumentError('It must be 1 to 64 characters on one line.');
}

export function toKeyId(text: string): string {
  if (/^[0-9a-f]{32}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be 32 lower-case hex digits, as `keys list` shows them.');
}

/** Lamports that one execution may take. */
export function toGas(text: string): number {
  const lamports = /^[0-9]{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (lamports <= constants.maxGasLamports) return lamports;
  throw new InvalidArgumentError(`It must be whole lamports, at most ${constants.maxGasLamports}.`);
}

/** The period in seconds. */
export function toPeriod(text: string): number {
  const [, count, unit] = /^([0-9]{1,6})(s|m|h|d)$/.exec(text) ?? [];
  const seconds = { s: 1, m: 60, h: 3_600, d: DAY_SECONDS }[unit as 's' | 'm' | 'h' | 'd'];
  if (seconds !== undefined) return Number(count) * seconds;
  throw new InvalidArgumentError('It must be a number and a unit: 90s, 30m, 24h or 7d.');
}

function toScopes(text: string): KeyScope[] {
  const scopes = toList(text);
  if (scopes.every((scope): scope is KeyScope => KEY_SCOPES.some((known) => known === scope))) return scopes;
  throw new InvalidArgumentError(`It must be one or more of ${KEY_SCOPES.join(', ')}, separated by commas.`);
}

function toTime(text: string): string {
  const time = Date.parse(text);
  if (/T.*(Z|[+-]\d\d:\d\d)$/.test(text) && time > Date.now()) return new Date(time).toISOString();
  throw new InvalidArgumentError('It must be a time in the future with its zone, such as 2027-01-31T12:00:00Z.');
}

function toAgents(text: string): string[] {
  const agents = toList(text);
  if (agents.every((agent) => ADDRESS.test(agent))) return agents;
  throw new InvalidArgumentError('Each must be an agent_id, as `agents list` shows it.');
}

function toList(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}
