/** The words for the outcome of a call, from the fields of the API alone. */
import { expect } from 'chai';
import { outcomeOf, outcomeOfReceived, payerOf } from '../../app/dashboard/views/executions/outcome.ts';
import { SUMMARY } from '../../app/relay/http/routes/executionSamples.ts';
import type { ReceivedCall } from '../../app/sdk/wire/procedures.ts';
import { ExecutionSummary } from '../../app/sdk/wire/wire.ts';

const shown = (changes: Partial<ExecutionSummary>) =>
  outcomeOf(ExecutionSummary.parse({ ...SUMMARY, ...changes })).words;
const nothing = { cost_usdc: 0, completed_at: null, execution_time_ms: null };

describe('the outcome of a call', () => {
  it('is what its caller needs to know, and says nothing about money that is not known', () => {
    const words: [Partial<ExecutionSummary>, string][] = [
      [{ status: 'pending', ...nothing }, 'Being opened'],
      [{ status: 'running', ...nothing }, 'Being opened'],
      [{ status: 'pending' }, 'Not started yet'],
      [{ status: 'running' }, 'Waiting for the agent'],
      [{ status: 'running', refund: 'pending' }, 'Refund on its way'],
      [{ status: 'running', refund: 'pending', ...nothing }, 'Refund on its way'],
      [{ status: 'completed' }, 'Completed'],
      [{ status: 'completed', dispute: { outcome: 'rejected' } }, 'Completed · dispute rejected'],
      [{ status: 'completed', dispute: { outcome: 'lapsed' } }, 'Completed · dispute ended undecided'],
      [{ status: 'disputed', dispute: { outcome: 'open' } }, 'Completed · dispute open'],
      [{ status: 'disputed', dispute: { outcome: 'upheld' }, returned_usdc: 0.25 }, 'Dispute upheld'],
      [{ status: 'failed', ...nothing }, 'Failed, nothing was paid'],
      [{ status: 'failed', refund: 'waiting' }, 'Failed, refund waits for your account'],
      [{ status: 'failed', refund: 'unclaimed', ...nothing }, 'Failed, refund waits for your claim'],
      [{ status: 'failed', refund: 'done', refunded_usdc: 0.25, ...nothing }, 'Refunded 0.25 USDC'],
      [{ status: 'failed', refund: 'done', refunded_usdc: null, ...nothing }, 'Refunded'],
    ];
    for (const [changes, expected] of words) expect(shown(changes), JSON.stringify(changes)).to.equal(expected);
  });

  it('is the same for the creator who received it', () => {
    const call = { status: 'completed', dispute: null, refunded_usdc: 0 } as ReceivedCall;
    const words: [Partial<ReceivedCall>, string][] = [
      [{}, 'Completed'],
      [{ dispute: { outcome: 'rejected' } }, 'Dispute rejected'],
      [{ status: 'failed' }, 'Refund on its way'],
      [{ status: 'failed', refunded_usdc: 0.25 }, 'Refunded 0.25 USDC'],
      [{ status: 'disputed', dispute: { outcome: 'open' } }, 'Dispute open'],
      [{ status: 'disputed', dispute: { outcome: 'upheld' } }, 'Dispute upheld'],
    ];
    for (const [changes, expected] of words)
      expect(outcomeOfReceived({ ...call, ...changes }).words).to.equal(expected);
  });

  it('comes with what paid: the name of a key, an unknown key, the wallet or an x402 client', () => {
    const paid = (changes: object) => payerOf(ExecutionSummary.parse({ ...SUMMARY, ...changes }));
    expect(paid({})).to.equal('Key: nightly-report');
    expect(paid({ key_name: null })).to.equal('Key 9f86d081');
    expect(paid({ key_name: null, key_id: null })).to.equal('Wallet');
    expect(paid({ key_name: null, key_id: null, deposit: 'an address' })).to.equal('x402');
  });
});
