/** What an execution paid, from a transaction that has the settles or refunds of several. */
import bs58 from 'bs58';
import { expect } from 'chai';
import { idl } from '../../app/sdk/program/idl/idl.ts';
import { encodeInstruction } from '../../app/sdk/program/idlCodec.ts';
import type { Check } from '../../app/sdk/receipt/checks.ts';
import type { Claim } from '../../app/sdk/receipt/claim.ts';
import { createNode } from '../../app/sdk/receipt/node.ts';
import { escrowAddress, PROGRAM, treasuryAddress, unclaimedAddress } from '../../app/sdk/receipt/onChain.ts';
import { checkSettlement } from '../../app/sdk/receipt/paid.ts';

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const address = (byte: number): string => bs58.encode(Buffer.alloc(32, byte));
const [CREATOR, CALLER, PAYOUT, USDC, OTHER_PROGRAM] = [1, 2, 3, 4, 5].map(address) as [
  string,
  string,
  string,
  string,
  string,
];
const SIGNATURE = bs58.encode(Buffer.alloc(64, 9));
const RECORDS = [address(21), address(22)];
const PRICE = 250_000n;
const FEE = 2_500n;

interface Instruction {
  program: string;
  accounts: string[];
  data: Uint8Array;
}
/** An instruction with those that it calls, in the order in which a node lists them. */
type Called = [Instruction, ...Instruction[]];

function transfer(from: string, to: string, amount: bigint, isChecked = false): Instruction {
  const data = Buffer.alloc(isChecked ? 10 : 9);
  data.writeUInt8(isChecked ? 12 : 3);
  data.writeBigUInt64LE(amount, 1);
  return { program: TOKEN, accounts: [from, ...(isChecked ? [address(8)] : []), to, address(7)], data };
}

function call(name: string, record: string, args: object): Instruction {
  const given: Record<string, string> = {
    ...{ record, escrow: escrowAddress(record), payout: PAYOUT, treasury: treasuryAddress() },
    ...{ destination: USDC, unclaimed: unclaimedAddress() },
  };
  const { accounts } = idl.instructions.find((one) => one.name === name)!;
  const named = accounts.map((account) => given[account.name] ?? address(6));
  return { program: PROGRAM, accounts: named, data: encodeInstruction(name, args) };
}

function settle(record: string, [creator, fee] = [PRICE - FEE, FEE], isChecked = false): Called {
  const args = {
    ...{ resultHash: new Uint8Array(32), signature: new Uint8Array(64) },
    ...{ executionTimeMs: 1, gasLamports: 0, spenderBump: 0 },
  };
  const escrow = escrowAddress(record);
  const close = { program: TOKEN, accounts: [escrow, address(6), record], data: Uint8Array.of(9) };
  const moves = [transfer(escrow, PAYOUT, creator, isChecked), transfer(escrow, treasuryAddress(), fee, isChecked)];
  return [
    call('settle_execution', record, args),
    ...moves.filter(({ data }) => data.subarray(1, 9).some(Boolean)),
    close,
  ];
}

function refund(record: string, amount = PRICE, name = 'refund_execution'): Called {
  const to = name === 'refund_execution' ? USDC : unclaimedAddress();
  const args = { reason: 'expired', gasLamports: 0 };
  return [call(name, record, args), transfer(escrowAddress(record), to, amount)];
}

/** The check of a record's end, at a node that shows these instructions in one transaction. */
async function check(
  record: string,
  called: Called[],
  change: (meta: Record<string, unknown>) => void = () => {},
  fee_bps = 100,
) {
  const keys = [...new Set(called.flat().flatMap(({ program, accounts }) => [program, ...accounts]))];
  const show = ({ program, accounts, data }: Instruction) => ({
    ...{ programIdIndex: keys.indexOf(program), accounts: accounts.map((key) => keys.indexOf(key)) },
    data: bs58.encode(data),
  });
  const balance = (account: string, owner: string) =>
    keys.includes(account) ? [{ accountIndex: keys.indexOf(account), owner, uiTokenAmount: { amount: '1' } }] : [];
  const meta = {
    err: null,
    innerInstructions: called.map(([, ...inner], index) => ({ index, instructions: inner.map(show) })),
    postTokenBalances: [
      ...balance(PAYOUT, CREATOR),
      ...balance(USDC, CALLER),
      ...balance(unclaimedAddress(), address(6)),
    ],
  };
  change(meta);
  const message = { accountKeys: keys, instructions: called.map(([first]) => show(first)) };
  const result = { blockTime: 1, transaction: { signatures: [SIGNATURE], message }, meta };
  const history = [{ signature: SIGNATURE, err: null }];
  const node = createNode('http://node.example', async (_url, init) => {
    const { method } = JSON.parse(String(init?.body));
    return Response.json({ result: method === 'getTransaction' ? result : history });
  });
  const transactions = { open: null, settle: SIGNATURE };
  const claim: Claim = { program_id: PROGRAM, execution_id: '', record, price_usdc: 0.25, fee_bps, transactions };
  return checkSettlement(node, claim, { fields: null, creator: CREATOR, caller: CALLER });
}

const failedOf = ({ compared }: Check): string[] =>
  compared.flatMap(({ what, got, expected }) => (got === expected ? [] : [what]));

describe('sdk/paid', () => {
  it('compares each settle of a transaction with its own transfers, also to the same accounts', async () => {
    for (const called of [
      RECORDS.map((record) => settle(record)),
      RECORDS.map((one) => settle(one, undefined, true)),
    ]) {
      for (const record of RECORDS) {
        const { check: found } = await check(record, called);
        expect(found.state, JSON.stringify(found)).to.equal('passed');
        expect(found.compared.map(({ what, got }) => [what, got])).to.deep.include.members([
          ['base units to the creator', '247500'],
          ['base units to the treasury', '2500'],
        ]);
      }
    }
  });

  it('fails for the settle of a transaction that paid another amount, and for no other', async () => {
    const called = [settle(RECORDS[0]!), settle(RECORDS[1]!, [PRICE - FEE - 1n, FEE + 1n])];
    expect((await check(RECORDS[0]!, called)).check.state).to.equal('passed');
    expect(failedOf((await check(RECORDS[1]!, called)).check)).to.deep.equal([
      'base units to the creator',
      'base units to the treasury',
    ]);
  });

  it('does not count what others send to the same accounts', async () => {
    const others: Called[] = [
      [transfer(PAYOUT, USDC, 7n)],
      [transfer(USDC, PAYOUT, 9n)],
      [transfer(USDC, treasuryAddress(), 9n)],
    ];
    expect((await check(RECORDS[0]!, [...others, settle(RECORDS[0]!)])).check.state).to.equal('passed');
  });

  it('finds settles that another program called, several of them by one instruction', async () => {
    const outer: Instruction = { program: OTHER_PROGRAM, accounts: [], data: new Uint8Array() };
    const called: Called[] = [[outer, ...RECORDS.flatMap((record) => settle(record))]];
    for (const record of RECORDS) expect((await check(record, called)).check.state).to.equal('passed');
  });

  it('sends the surplus to the treasury, or to the creator if the fee was waived', async () => {
    const called = [settle(RECORDS[0]!, [PRICE - FEE, FEE + 5n]), settle(RECORDS[1]!)];
    expect((await check(RECORDS[0]!, called)).check.state).to.equal('passed');
    const waived = [settle(RECORDS[0]!, [PRICE + 5n, 0n]), settle(RECORDS[1]!)];
    expect((await check(RECORDS[0]!, waived, undefined, 0)).check.state).to.equal('passed');
    expect(failedOf((await check(RECORDS[0]!, waived)).check)).to.deep.equal([
      'base units to the creator',
      'base units to the treasury',
    ]);
  });

  it('reports each refund of a transaction, back to the same account or unclaimed', async () => {
    const called = [refund(RECORDS[0]!), refund(RECORDS[1]!, PRICE + 1n)];
    for (const [index, amount] of [PRICE, PRICE + 1n].entries()) {
      const { check: found, refund: back } = await check(RECORDS[index]!, called);
      expect(found.state, JSON.stringify(found)).to.equal('passed');
      expect(back).to.deep.equal({ amount, transaction: SIGNATURE, at: 1 });
    }
    const moved = [refund(RECORDS[0]!, PRICE, 'move_unclaimed_refund'), ...called.slice(1)];
    expect((await check(RECORDS[0]!, moved)).refund?.amount).to.equal(PRICE);
  });

  it('fails for a refund that went elsewhere in part', async () => {
    const [first, ...moves] = refund(RECORDS[0]!, PRICE - 1n);
    const called: Called[] = [[first, ...moves, transfer(escrowAddress(RECORDS[0]!), PAYOUT, 1n)], refund(RECORDS[1]!)];
    const { check: found, refund: back } = await check(RECORDS[0]!, called);
    expect([failedOf(found), back]).to.deep.equal([['base units back to the caller'], null]);
  });

  it('fails if something is left in the escrow, or the paid account is of another owner', async () => {
    const called = [settle(RECORDS[0]!)];
    const keep = (owner: string, account: string) => (meta: Record<string, unknown>) => {
      const keys = [...new Set(called.flat().flatMap(({ program, accounts }) => [program, ...accounts]))];
      const one = { accountIndex: keys.indexOf(account), owner, uiTokenAmount: { amount: '1' } };
      meta.postTokenBalances = [...(meta.postTokenBalances as unknown[]), one];
    };
    const left = await check(RECORDS[0]!, called, keep(RECORDS[0]!, escrowAddress(RECORDS[0]!)));
    expect(failedOf(left.check)).to.deep.equal(['base units left in the escrow']);
    const stranger = await check(RECORDS[0]!, called, keep(CALLER, PAYOUT));
    expect(failedOf(stranger.check)).to.deep.equal(["owner of the creator's account"]);
  });

  it('does not fail when the node reports no inner instructions or no balances, and says so', async () => {
    const outer: Instruction = { program: OTHER_PROGRAM, accounts: [], data: new Uint8Array() };
    const CASES: [called: Called[], field: string, value: unknown, reason: string][] = [
      [[settle(RECORDS[0]!)], 'innerInstructions', null, 'The node does not report the transfers out of the escrow.'],
      [[settle(RECORDS[0]!)], 'innerInstructions', [], 'The node does not report the transfers out of the escrow.'],
      [[refund(RECORDS[0]!)], 'innerInstructions', null, 'The node does not report the transfers out of the escrow.'],
      [
        [[outer, ...settle(RECORDS[0]!)]],
        'innerInstructions',
        null,
        'The node does not report instructions that other programs called.',
      ],
      [[settle(RECORDS[0]!)], 'postTokenBalances', null, 'The node does not report the token balances.'],
    ];
    for (const [called, field, value, reason] of CASES) {
      const { check: found, refund: back } = await check(RECORDS[0]!, called, (meta) => {
        meta[field] = value;
      });
      expect([found.state, found.reason, back]).to.deep.equal(['not_checked', reason, null]);
    }
  });
});
