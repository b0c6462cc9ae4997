/** Settings of indexer and relay: what `--help` says of each, and how a missing or wrong one is named. */
import { expect } from 'chai';
import { describeConfig as describeRelay, readConfig as readRelay } from '../../app/relay/config.ts';
import { describeConfig as describeIndexer, readConfig as readIndexer } from '../../indexer/config.ts';

const refusal = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was refused';
};

describe('settings', () => {
  it('are described with their default, or whether they are required', () => {
    for (const described of [describeIndexer(), describeRelay()]) {
      for (const line of described.split('\n')) {
        expect(line).to.match(/^ {2}[A-Z0-9_]+ +\S.* \((required|optional|default: .+)\)$/);
      }
    }
    expect(describeRelay()).to.match(/RELAY_KEYPAIR .*\(required\)/);
    expect(describeRelay()).to.match(/ PORT .*\(default: 8787\)/);
    expect(describeRelay()).to.match(/EGRESS_IPS .*\(default: none\)/);
    expect(describeIndexer()).to.match(/SOLANA_WS_URL .*\(default: ws:\/\/127\.0\.0\.1:8900\)/);
    expect(describeIndexer()).to.match(/INDEX_DB .*\(optional\)/);
  });

  it('are named in one line each, with what they are for, where they are missing or wrong', () => {
    const message = refusal(() =>
      readRelay({
        PORT: 'eighty',
        TRUST_PROXY: '11',
        PROBE_SECONDS: '0',
        REFUSE_AFTER: '1.5',
        BASE_URL: 'here',
        LOG_LEVEL: 'loud',
        METRICS_TOKEN: 'short',
        MAX_PRIORITY_FEE_LAMPORTS: '1e3',
      }),
    );
    const lines = message.split('\n');
    expect(lines).to.have.length(9);
    for (const expected of [
      'RELAY_KEYPAIR is required: file of the relay authority',
      'PORT must be a number: port to listen on',
      'TRUST_PROXY must be at most 10: ',
      'PROBE_SECONDS must be at least 1: ',
      'REFUSE_AFTER must be a whole number: ',
      'BASE_URL must be a URL: ',
      'LOG_LEVEL must be debug or info or warn or error or silent: ',
      'METRICS_TOKEN must have at least 16 characters: ',
      'MAX_PRIORITY_FEE_LAMPORTS must be a whole number: ',
    ]) {
      expect(
        lines.some((line) => line.startsWith(expected)),
        `${expected}\n${message}`,
      ).to.equal(true);
    }
    expect(message).to.not.include('short');
    expect(refusal(() => readIndexer({ ENVIRONMENT: 'prod' }))).to.match(/^ENVIRONMENT must be test or live: /);
  });

  it('count as unset where they are empty', () => {
    expect(readIndexer({ DATA_DIR: '', INDEX_DB: '', LOG_LEVEL: '' })).to.deep.include({ logLevel: 'info' });
    expect(refusal(() => readRelay({ RELAY_KEYPAIR: '' }))).to.match(/^RELAY_KEYPAIR is required: [^\n]+$/);
  });
});
