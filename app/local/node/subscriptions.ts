/** Subscriptions over WebSocket: each is notified when a change reaches its commitment. */
import { type Commitment, PublicKey } from '@solana/web3.js';
import { z } from 'zod';
import { type AccountConfig, accountConfig } from './accountJson.ts';
import { showAccount } from './accountMethods.ts';
import type { Bank } from './bank.ts';
import type { Landed, LandedMeta } from './history.ts';
import { address, context, DEFAULT_COMMITMENT, invalidParams, type Method, parse, signature } from './wire.ts';

/** Sends a notification's text to the subscriber. */
export type Notify = (text: string) => void;

interface Subscription {
  commitment: Commitment;
  /** A transaction has reached the commitment. */
  onTransaction?(landed: Landed): void;
  /** Accounts have changed at this commitment; each is listed once, for any number of transactions. */
  onAccounts?(addresses: Set<string>): void;
  /** A slot has begun. */
  onSlot?(): void;
}

const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;
/** Subscriptions have their own messages for malformed addresses and signatures. */
function invalidRequest<Schema extends z.ZodType>(schema: Schema, message: string) {
  return z.unknown().transform((given, refined): z.output<Schema> => {
    const parsed = schema.safeParse(given);
    if (parsed.success) return parsed.data;
    refined.addIssue(message);
    return z.NEVER;
  });
}
const subscribedAddress = invalidRequest(address, 'Invalid Request: Invalid pubkey provided');
const subscribedSignature = invalidRequest(signature, 'Invalid Request: Invalid signature provided');

const commitmentOnly = z.object({ commitment: context.shape.commitment }).nullish();
const logsFilter = z.union([z.literal(['all', 'allWithVotes']), z.object({ mentions: z.array(z.string()) })]);
const accountOptions = accountConfig.nullish();

export class Subscriptions {
  private readonly all = new Map<number, Subscription>();
  /** Transactions of slots that are not final yet. */
  private pending: Landed[] = [];
  private lastId = 0;

  constructor(private readonly bank: Bank) {
    bank.listen({
      onLanded: (landed) => {
        this.pending.push(landed);
        this.report('processed', [landed]);
        if (landed.slot <= bank.slots.confirmed) this.report('confirmed', [landed]);
      },
      onSlot: (from) => {
        for (const subscription of this.all.values()) subscription.onSlot?.();
        const { confirmed, finalized } = bank.slots;
        const reached = (after: number, slot: number) =>
          this.pending.filter((landed) => landed.slot > after && landed.slot <= slot);
        this.report('confirmed', reached(from.confirmed, confirmed));
        this.report('finalized', reached(from.finalized, finalized));
        this.pending = this.pending.filter((landed) => landed.slot > finalized);
      },
    });
  }

  /** The methods of one connection. */
  methods(notify: Notify): { methods: Record<string, Method>; close(): void } {
    const ours = new Set<number>();
    const add = (create: (send: (method: string, result: unknown) => void, end: () => void) => Subscription) => {
      this.lastId += 1;
      const id = this.lastId;
      const send = (method: string, result: unknown) =>
        notify(JSON.stringify({ jsonrpc: '2.0', method, params: { result, subscription: id } }));
      const end = () => {
        this.all.delete(id);
        ours.delete(id);
      };
      ours.add(id);
      this.all.set(id, create(send, end));
      return id;
    };
    const unsubscribe: Method = (params) => {
      const [id] = parse(z.tuple([z.number()]), params);
      if (!ours.delete(id)) throw invalidParams('Invalid subscription id.');
      return this.all.delete(id);
    };

    const subscribing: Record<string, Method> = {
      signatureSubscribe: (params) => {
        const [text, options] = parse(z.tuple([subscribedSignature]).rest(commitmentOnly), params);
        return add((send, end) => this.signature(text, commitmentOf(options), send, end));
      },
      logsSubscribe: (params) => {
        const [filter, options] = parse(z.tuple([logsFilter]).rest(commitmentOnly), params);
        const mentioned = typeof filter === 'string' ? null : onlyOne(filter.mentions);
        return add((send) => ({
          commitment: commitmentOf(options),
          onTransaction({ signature, err, slot, meta, addresses }) {
            if (mentioned !== null && !addresses.includes(mentioned)) return;
            const { logMessages: logs } = JSON.parse(meta) as LandedMeta;
            send('logsNotification', inContext({ slot }, { signature, err, logs: logs ?? [] }));
          },
        }));
      },
      accountSubscribe: (params) => {
        const [key, options] = parse(z.tuple([subscribedAddress]).rest(accountOptions), params);
        return add((send) => this.account(key, options ?? {}, send));
      },
      slotSubscribe: () =>
        add((send) => ({
          commitment: 'processed',
          onSlot: () => {
            const { current: slot, finalized: root } = this.bank.slots;
            send('slotNotification', { slot, parent: slot - 1, root });
          },
        })),
    };
    const ending = Object.keys(subscribing).map((name) => [name.replace('Subscribe', 'Unsubscribe'), unsubscribe]);
    return {
      methods: { ...subscribing, ...Object.fromEntries(ending) },
      close: () => {
        for (const id of ours) this.all.delete(id);
      },
    };
  }

  private report(commitment: Commitment, reached: Landed[]): void {
    if (reached.length === 0) return;
    const changed = new Set(reached.flatMap(({ addresses }) => addresses));
    for (const subscription of [...this.all.values()]) {
      if (subscription.commitment !== commitment) continue;
      if (subscription.onTransaction) for (const landed of reached) subscription.onTransaction(landed);
      subscription.onAccounts?.(changed);
    }
  }

  private signature(text: string, commitment: Commitment, send: Send, end: () => void): Subscription {
    const onTransaction = ({ signature, err, slot }: Landed) => {
      if (signature !== text) return;
      send('signatureNotification', inContext({ slot }, { err }));
      end();
    };
    const landed = this.bank.history.get(text);
    const isThere = landed && landed.slot <= this.bank.slots.at(commitment);
    // The client must know the subscription's number before the first notification.
    if (isThere) setImmediate(() => onTransaction(landed));
    return { commitment, onTransaction };
  }

  private account(key: PublicKey, options: AccountConfig, send: Send): Subscription {
    const commitment = commitmentOf(options);
    const text = key.toBase58();
    return {
      commitment,
      onAccounts: (addresses) => {
        if (addresses.has(text)) send('accountNotification', inContext(this.at(commitment), this.show(key, options)));
      },
    };
  }

  private at(commitment: Commitment): { slot: number } {
    return { slot: this.bank.slots.at(commitment) };
  }

  /** A removed account is shown empty, as by a validator. */
  private show(key: PublicKey, options: AccountConfig) {
    const commitment = commitmentOf(options);
    const account = this.bank.account(key, commitment);
    if (account) return showAccount(this.bank, key, account, options, commitment);
    const data = options.encoding === 'base64' ? ['', 'base64'] : '';
    return { lamports: 0, owner: PublicKey.default.toBase58(), data, executable: false, rentEpoch: 0, space: 0 };
  }
}

function onlyOne(mentions: string[]): string {
  if (mentions.length !== 1) throw invalidParams('Invalid Request: Only 1 address supported');
  return parse(z.tuple([subscribedAddress]), mentions)[0].toBase58();
}

/** Notifications lack the validator's version. */
function inContext(context: { slot: number }, value: unknown) {
  return { context: { slot: context.slot }, value };
}

type Send = (method: string, result: unknown) => void;

function commitmentOf(options: { commitment?: string | undefined } | null | undefined): Commitment {
  const named = COMMITMENTS.find((commitment) => commitment === options?.commitment);
  return named ?? DEFAULT_COMMITMENT;
}
