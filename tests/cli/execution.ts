/**
 * A wallet opens, reads and refunds executions by commands alone, on a real node. Checks the balances of every party
 * after each command, and the refusals for a command that is too early or signed by the wrong key. No relay is needed.
 */
import { createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { expect } from 'chai';
import { depositAddress, findEscrow, findExecution, findGrant, prepareDeposit } from '../../app/sdk/program/program.ts';
import { keyIdOf } from '../../app/sdk/receipt/apiKey.ts';
import { deriveExecutionId, formatUuid, parseUuid, requestHash } from '../../app/sdk/receipt/receipt.ts';
import { readClock } from '../../app/sdk/wallet/connection.ts';
import { sendTransaction } from '../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../app/sdk/wallet/signer.ts';
import type { TestMarketplace } from '../harness/node/marketplace.ts';
import { runHere, type useTerminal } from './run.ts';

const PRICE = 250_000n;
/** A refunded record is kept for an hour after its open. */
const KEPT_SECONDS = 3_600;
/** Default of the gas that an open reserves for the settle, in lamports. */
const GAS = 10_000n;
/** Fee of one signature, in lamports. */
const FEE = 5_000n;

/** Declares the tests. The first caller has paid one call with its key. The clock is moved by a month. */
export function opensExecutions(market: TestMarketplace, terminal: ReturnType<typeof useTerminal>): void {
  describe('executions without the service', () => {
    let caller: Keypair;
    let stranger: Keypair;
    let executionId: string;

    const open = (...words: string[]) => terminal.done(caller, 'execution', 'open', market.agentId, ...words);
    const held = async () => ({
      caller: await market.amountOf(market.callers[0]!.usdc),
      stranger: await market.amountOf(market.callers[1]!.usdc),
      creator: await market.amountOf(market.creatorUsdc),
    });
    const rentOf = async (address: PublicKey) =>
      BigInt((await market.node.connection.getAccountInfo(address))?.lamports ?? 0);
    const lamportsOf = async (wallet: Keypair) => BigInt(await market.node.connection.getBalance(wallet.publicKey));

    before(async () => {
      [caller, stranger] = [market.callers[0]!.wallet, market.callers[1]!.wallet];
    });

    it('opens an execution: the price moves from the wallet into its own escrow, and every field is printed', async () => {
      const before = await held();
      const tail = '0f'.repeat(12);
      const words = ['--task', 'sums', '--parameters', '{"a":1}', '--timeout-seconds', '30', '--nonce-tail', tail];
      const lamports = await lamportsOf(caller);
      const opened = await open(...words);
      // The nonce begins with the half-hour of five minutes ago, as a little-endian u32, followed by the tail.
      const halfHour = Buffer.alloc(4);
      halfHour.writeUInt32LE(Math.floor((Number(await readClock(market.node.connection)) - 300) / 1_800));
      const nonce = `${halfHour.toString('hex')}${tail}`;
      const id = deriveExecutionId(caller.publicKey.toBytes(), Buffer.from(nonce, 'hex'));
      executionId = opened.execution_id;
      expect(opened).to.include({
        execution_id: formatUuid(id),
        nonce,
        record: findExecution(id).toBase58(),
        agent_id: market.agentId,
        price_usdc: '0.25',
        request_hash: Buffer.from(requestHash('sums', { a: 1 })).toString('hex'),
      });
      expect(await held()).to.deep.equal({ ...before, caller: before.caller - PRICE });
      // The record's account holds the gas in addition to its rent.
      const lent = (await rentOf(findExecution(id))) + (await rentOf(findEscrow(findExecution(id))));
      expect(await lamportsOf(caller)).to.equal(lamports - lent - FEE);

      const shown = await terminal.look('execution', 'show', executionId);
      expect(shown).to.include({
        status: 'open',
        caller: caller.publicKey.toBase58(),
        rent_sponsor: caller.publicKey.toBase58(),
        key_id: null,
        escrow_usdc: '0.25',
        price_usdc: '0.25',
        fee_bps: 100,
        request_hash: opened.request_hash,
        result_hash: null,
        settled_at: null,
        disputable_until: null,
        gas_lamports: Number(GAS),
      });
      const seconds = (name: string) => Date.parse(shown[name]) / 1000;
      expect(seconds('deadline') - seconds('opened_at')).to.equal(30);
      expect(seconds('refund_at') - seconds('deadline')).to.equal(600);
    });

    it('refuses an open that would fail, and names the right value', async () => {
      const before = await held();
      const refuse = (...words: string[]) => terminal.refused(caller, 'execution', 'open', market.agentId, ...words);
      expect(await refuse()).to.include('--task TEXT (and --parameters JSON), or only --request-hash HEX');
      expect(await refuse('--task', 'x', '--max-price', '0.2')).to.include(
        "The price is above max_price (PriceAboveMax). The agent's price is 0.25 USDC.",
      );
      expect(await refuse('--task', 'x', '--timeout-seconds', '61')).to.include(
        '(TimeoutOutOfRange). The agent accepts 1 to 60 seconds.',
      );
      const none = await terminal.refused(caller, 'execution', 'open', caller.publicKey.toBase58(), '--task', 'x');
      expect(none).to.equal(`No agent ${caller.publicKey} exists on this chain.\n`);
      expect(await held()).to.deep.equal(before);
    });

    it("refunds the caller on anyone's request from refund_at on, and not before", async () => {
      const unknown = '00000000-0000-8000-8000-000000000000';
      expect(await terminal.refused(caller, 'execution', 'refund', unknown)).to.equal(
        `No record of the execution ${unknown} exists on this chain.\n`,
      );
      const refusal = await terminal.refused(stranger, 'execution', 'refund', executionId);
      expect(refusal).to.match(/\(RefundTooEarly\)\. refund_at is 20\S+Z; the chain's clock shows 20\S+Z\.\n$/);
      const close = await terminal.refused(stranger, 'execution', 'close', executionId);
      expect(close).to.include('(ExecutionNotEnded). It is open.');

      const shown = await terminal.look('execution', 'show', executionId);
      await market.node.timeTravel(Date.parse(shown.refund_at) / 1000);
      const elsewhere = market.callers[1]!.usdc.toBase58();
      const stolen = await terminal.refused(stranger, 'execution', 'refund', executionId, '--destination', elsewhere);
      expect(stolen).to.include('(WrongRefundDestination).').and.include(`The caller is ${caller.publicKey};`);

      const usdc = market.callers[0]!.usdc;
      const before = await held();
      const rent = await rentOf(findEscrow(findExecution(parseUuid(executionId)!)));
      const callerLamports = await lamportsOf(caller);
      const refunded = await terminal.done(stranger, 'execution', 'refund', executionId);
      expect(refunded).to.include({ amount_usdc: '0.25', destination: usdc.toBase58() });
      expect(await held()).to.deep.equal({ ...before, caller: before.caller + PRICE });
      // No relay ended it, so the gas is returned too.
      expect(await lamportsOf(caller)).to.equal(callerLamports + rent + GAS);
      const after = await terminal.look('execution', 'show', executionId);
      expect(after).to.include({ status: 'refunded', escrow_usdc: null });
      expect(await terminal.refused(stranger, 'execution', 'refund', executionId)).to.include(
        '(ExecutionNotOpen). It is refunded.',
      );
    });

    it('closes a refunded record an hour after its open, and returns its rent to the payer', async () => {
      const { settled_at } = await terminal.look('execution', 'show', executionId);
      expect(await terminal.refused(stranger, 'execution', 'close', executionId)).to.match(
        /\(CloseTooEarly\)\. It can be closed at 20\S+Z; the chain's clock shows 20\S+Z\.\n$/,
      );
      await market.node.timeTravel(Date.parse(settled_at) / 1000 + KEPT_SECONDS);
      const record = findExecution(parseUuid(executionId)!);
      const rent = await rentOf(record);
      expect(rent > 0n).to.equal(true);
      const before = await lamportsOf(caller);
      const closed = await terminal.done(stranger, 'execution', 'close', executionId);
      expect(closed).to.include({ execution_id: executionId, rent_sponsor: caller.publicKey.toBase58() });
      expect(await lamportsOf(caller)).to.equal(before + rent);
      expect(await rentOf(record)).to.equal(0n);
      expect(await terminal.refused(stranger, 'execution', 'close', executionId)).to.include(
        'No record of the execution',
      );
    });

    it('shows a deposit by its address or its quote, and refunds it on anyone’s request once it has expired', async () => {
      const { authority: relay, usdcMint } = market;
      const { connection } = market.node;
      const listing = new PublicKey(market.agentId);
      const [requestHash, nonce] = [new Uint8Array(32).fill(1), new Uint8Array(16).fill(2)];
      const terms = { listing, listingVersion: 1, requestHash, timeoutSeconds: 30, nonce };
      const quote = { terms, payer: caller.publicKey, price: PRICE, serviceFee: 5_000n, usdcMint };
      const { address, vault } = depositAddress(quote);
      const extra = {
        listing: market.agentId,
        listing_version: 1,
        request_hash: '01'.repeat(32),
        timeout_seconds: 30,
        nonce: '02'.repeat(16),
        payer: caller.publicKey.toBase58(),
        price: String(PRICE),
        service_fee: '5000',
        ticket: 'ignored',
      };
      const show = async (...words: string[]) => {
        const { code, stdout, stderr } = await runHere(['deposit', 'show', ...words, '--rpc-url', market.node.rpcUrl]);
        expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
        return stderr;
      };
      expect(await show(address.toBase58())).to.include(`No deposit ${address} exists on this chain`);
      expect(await show()).to.equal('The deposit is missing. Give its address, or only --terms JSON.\n');
      const cut = JSON.stringify({ ...extra, nonce: '02' });
      expect(await show('--terms', cut)).to.include('`extra` of a quote: nonce: must be 32 lower-case hex digits.');

      const authority = relay.publicKey;
      const rent = { authority, rentPayer: authority, rentSponsor: authority, caller: caller.publicKey };
      await sendTransaction(connection, [prepareDeposit({ ...quote, ...rent })], keypairSigner(relay));
      const { usdc } = market.callers[0]!;
      const payment = createTransferInstruction(usdc, vault, caller.publicKey, PRICE + 5_000n);
      await sendTransaction(connection, [payment], keypairSigner(caller));
      const shown = await terminal.look('deposit', 'show', '--terms', JSON.stringify(extra));
      expect(shown).to.deep.equal(await terminal.look('deposit', 'show', address.toBase58()));
      expect(shown).to.include({
        deposit: address.toBase58(),
        vault: vault.toBase58(),
        caller: caller.publicKey.toBase58(),
        price_usdc: '0.25',
        service_fee_usdc: '0.005',
        held_usdc: '0.255',
        refundable_at: shown.expires_at,
        rent_sponsor: authority.toBase58(),
      });
      expect(Date.parse(shown.expires_at) - Date.parse(shown.prepared_at)).to.equal(600_000);

      const refund = [stranger, 'deposit', 'refund', address.toBase58()] as const;
      expect(await terminal.refused(...refund)).to.match(
        /\(DepositNotExpired\)\. It can be refunded at 20\S+Z; the chain's clock shows 20\S+Z\.\n$/,
      );
      await market.node.timeTravel(Date.parse(shown.expires_at) / 1000);
      const elsewhere = ['--destination', market.callers[1]!.usdc.toBase58()];
      expect(await terminal.refused(...refund, ...elsewhere)).to.include('(WrongRefundDestination). The caller is');
      const before = await held();
      const refunded = await terminal.done(...refund);
      expect(refunded).to.include({ deposit: address.toBase58(), destination: usdc.toBase58(), held_usdc: '0.255' });
      expect(await held()).to.deep.equal({ ...before, caller: before.caller + PRICE + 5_000n });
      expect(await terminal.refused(...refund)).to.include('was refunded');
    });

    it('changes the named limits of a key, and closes it', async () => {
      const keyId = Buffer.from(keyIdOf(market.callers[0]!.apiKey)).toString('hex');
      expect(await terminal.refused(caller, 'keys', 'update', keyId)).to.include('Name at least one limit');
      expect(await terminal.refused(stranger, 'keys', 'update', keyId, '--total', '5')).to.equal(
        `The wallet ${stranger.publicKey} has no key ${keyId} on this chain.\n`,
      );
      await market.node.timeTravel(Number(market.limits.expiresAt));
      // The key has expired. A change of another limit does not renew it.
      expect(await terminal.refused(caller, 'keys', 'update', keyId, '--total', '5')).to.match(
        /\(GrantExpiryOutOfBounds\)\. The key would expire at 20\S+Z; the chain's clock shows 20\S+Z\.\n$/,
      );
      const change = ['--total', '5', '--per-execution', '0.3', '--max-gas', '30000', '--expires-in-days', '365'];
      const updated = await terminal.done(caller, 'keys', 'update', keyId, ...change);
      expect(updated).to.include({
        per_execution_usdc: '0.3',
        per_period_usdc: '1000',
        period_seconds: 86_400,
        total_usdc: '5',
        total_spent_usdc: '0.25',
        max_gas_lamports: 30_000,
      });
      const grant = findGrant(caller.publicKey, Buffer.from(keyId, 'hex'));
      const rent = await rentOf(grant);
      const before = await lamportsOf(caller);
      const closed = await terminal.done(caller, 'keys', 'close', keyId);
      expect(closed).to.include({ key_id: keyId, closed: true, rent_sponsor: caller.publicKey.toBase58() });
      expect(await lamportsOf(caller)).to.equal(before + rent - FEE);
      expect(await rentOf(grant)).to.equal(0n);
      expect(await terminal.refused(caller, 'keys', 'close', keyId)).to.include(`has no key ${keyId}`);
    });

    it('reports that no node answers, and what a wallet is missing', async () => {
      const { code, stderr } = await runHere(['admin', 'config', '--rpc-url', 'http://127.0.0.1:1']);
      expect({ code, stderr }).to.deep.equal({ code: 1, stderr: 'No Solana node answers at http://127.0.0.1:1.\n' });
      const poor = Keypair.generate();
      expect(await terminal.refused(poor, 'execution', 'open', market.agentId, '--task', 'x')).to.include(
        `The wallet ${poor.publicKey} has no USDC account`,
      );
      expect(await terminal.refused(poor, 'admin', 'pause-opens')).to.equal(
        `The wallet ${poor.publicKey} has too little SOL for fees and refundable deposits.\n`,
      );
    });
  });
}
