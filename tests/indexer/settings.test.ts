/** Settings of indexer and relay: their descriptions in `--help`, and the errors for a missing or wrong one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { expect } from 'chai';
import {
  describeConfig as describeRelay,
  readConfig as readRelay,
  readToolConfig as readTool,
} from '../../app/relay/config.ts';
import { connectForReading, createPatientFetch, createRpcFetch } from '../../app/solana/rpc.ts';
import { describeConfig as describeIndexer, readConfig as readIndexer } from '../../indexer/config.ts';
import { serve } from '../harness/edge/listen.ts';
import { cleanUp, newDirectory } from '../local/start.ts';

const refusal = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was refused';
};

describe('settings', () => {
  after(cleanUp);
  it('are described with their default or as required', () => {
    for (const described of [describeIndexer(), describeRelay()]) {
      for (const line of described.split('\n')) {
        expect(line).to.match(/^ {2}[A-Z0-9_]+ +\S.* \((required|optional|default: .+)\)$/);
      }
    }
    expect(describeRelay()).to.match(/RELAY_KEYPAIR .*\(required\)/);
    expect(describeRelay()).to.match(/ PORT .*\(default: 8787\)/);
    expect(describeRelay()).to.match(/EGRESS_IPS .*\(default: none\)/);
    expect(describeIndexer()).to.match(/SOLANA_WS_URL .*\(default: ws:\/\/127\.0\.0\.1:8900\)/);
    expect(describeIndexer()).to.match(/HELIUS_URL .*\(optional\)/);
  });

  it('are named in one line each, with their purpose, when they are missing or wrong', () => {
    const message = refusal(() =>
      readRelay({
        PORT: 'eighty',
        TRUST_PROXY: '11',
        SHUTDOWN_SECONDS: '0',
        PUBLIC_RATE_BURST: '1.5',
        BASE_URL: 'here',
        LOG_LEVEL: 'loud',
        METRICS_TOKEN: 'short',
        MAX_PRIORITY_FEE_LAMPORTS: '1e3',
      }),
    );
    const lines = message.split('\n');
    expect(lines).to.have.length(9);
    for (const expected of [
      'RELAY_KEYPAIR is required: keypair file of the relay authority',
      'PORT must be a number: port to listen on',
      'TRUST_PROXY must be at most 10: ',
      'SHUTDOWN_SECONDS must be at least 1: ',
      'PUBLIC_RATE_BURST must be a whole number: ',
      'BASE_URL must be https://HOST or http://HOST:PORT, without user, password, query and fragment: ',
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

  it('drop the slash at the end of the public URL', () => {
    const RELAY_KEYPAIR = join(newDirectory(), 'relay.json');
    writeFileSync(RELAY_KEYPAIR, JSON.stringify([...Keypair.generate().secretKey]), { mode: 0o600 });
    expect(readRelay({ RELAY_KEYPAIR, BASE_URL: 'https://host/market/' }).baseUrl).to.equal('https://host/market');
  });

  it('name the setting of the storage that is there, and those that it needs', () => {
    const path = join(newDirectory(), 'relay.json');
    writeFileSync(path, JSON.stringify([...Keypair.generate().secretKey]));
    expect(refusal(() => readRelay({ RELAY_KEYPAIR: path, S3_BUCKET: 'results' }))).to.equal(
      'S3_BUCKET is set, so these are needed too: S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY',
    );
  });

  it('refuse a price of a SOL with which no x402 client would ever get a quote', () => {
    const path = join(newDirectory(), 'relay.json');
    writeFileSync(path, JSON.stringify([...Keypair.generate().secretKey]));
    const environment = { RELAY_KEYPAIR: path, X402_FEE_PAYER_KEYPAIR: path };
    expect(refusal(() => readRelay({ ...environment, X402_SOL_PRICE_USDC: '10000' }))).to.match(
      /^X402_SOL_PRICE_USDC is too high: .* more than 0\.05 USDC, the highest service fee$/,
    );
    expect(readRelay({ ...environment, X402_SOL_PRICE_USDC: '1000' }).x402?.serviceFee.solPrice).to.equal(
      1_000_000_000n,
    );
  });

  /** Settings with an address: how it is described, wrong values, which are never printed, and right ones. */
  const ADDRESSES: Record<string, [says: RegExp, wrong: string[], right: string[]]> = {
    DATABASE_URL: [
      /^DATABASE_URL must be postgres:\/\/USER:PASSWORD@HOST:PORT\/NAME, in USER .* as %XX: /,
      ['postgres://user:canary pw@host:port/name', 'postgres://user:can/ary@host/name', 'mysql://canary/x'],
      ['postgres://user:p%40ss@db.internal/name?sslmode=verify-full', 'postgresql:///name?host=/run/postgresql'],
    ],
    SOLANA_RPC_URL: [
      /^SOLANA_RPC_URL must be a URL, https:\/\/HOST or http:\/\/HOST:PORT, or several separated by commas: JSON-RPC URL/,
      ['localhost:8899/canary', 'ws://canary', 'https://one,canary'],
      ['http://one:8899,https://two'],
    ],
    SOLANA_WS_URL: [
      /^SOLANA_WS_URL must be a URL, wss:\/\/HOST or ws:\/\/HOST:PORT, or several separated by commas: WebSocket URL/,
      ['http://canary'],
      ['ws://one:8900'],
    ],
    PUBLIC_RPC_URL: [
      /^PUBLIC_RPC_URL must be a URL, https:\/\/HOST or http:\/\/HOST:PORT: /,
      ['wss://canary'],
      ['https://one'],
    ],
    BASE_URL: [
      /^BASE_URL must be https:.* without user, password, query and fragment: /,
      ['ws://host', 'https://canary@host', 'https://:canary@host', 'https://host?canary', 'https://host#canary'],
      ['https://host/market/'],
    ],
    OPERATOR_CONTACT: [
      /^OPERATOR_CONTACT must be https:\/\/HOST\/PATH or mailto:NAME@HOST, without [^\n]*$/,
      [
        ...['help@canary.example', 'http://example.com', 'javascript:alert(1)', 'mailto:', 'mailto:a@b.example?cc=c'],
        ...['https://user:canary@example.com', 'example.com'],
      ],
      ['https://example.com/help', 'mailto:help@example.com', ''],
    ],
    EGRESS_IPS: [
      /^EGRESS_IPS must be IP addresses, or ranges such as 203.0.113.0\/24, separated by commas: /,
      ['203.0.113', '203.0.113.10;203.0.113.11', '203.0.113.0/33', '203.0.113.1,', 'a.example'],
      ['203.0.113.10, 2001:db8::/48', '203.0.113.0/24', ''],
    ],
  };
  /** The settings that relay, indexer and commands share. */
  const SHARED = ['DATABASE_URL', 'SOLANA_RPC_URL', 'SOLANA_WS_URL'];

  for (const [name, [says, wrong, right]] of Object.entries(ADDRESSES)) {
    it(`describe ${name}, take only what it may be, and never print the wrong value`, () => {
      const relay = (environment: object) => readRelay({ RELAY_KEYPAIR: 'x', ...environment });
      const readers = SHARED.includes(name) ? [readIndexer, ...(name === 'SOLANA_WS_URL' ? [] : [readTool])] : [relay];
      for (const read of readers) {
        for (const value of wrong) {
          const message = refusal(() => read({ [name]: value }));
          expect(message, value).to.match(says);
          expect(message).to.not.include('canary');
        }
        for (const value of right)
          expect(
            refusal(() => read({ [name]: value })),
            value,
          ).to.not.include(name);
      }
    });
  }

  const never = new AbortController().signal;
  /** What both ways of reading a node say of it. */
  const saidOf = (url: string): Promise<string[]> => {
    const patient = createPatientFetch(never, createRpcFetch(), 1);
    const calls = [connectForReading(url, never).getSlot(), patient(url, { method: 'POST', headers: {} })];
    return Promise.all(calls.map((call) => call.then(String, (error: Error) => error.message)));
  };
  const ADVICE = 'Set SOLANA_RPC_URL, or HELIUS_URL with HELIUS_API_KEY, to its address';

  it('name a node that redirects and follow it nowhere, or one that does not answer, with its host only', async () => {
    let [asked, followed] = [0, 0];
    const server = await serve((request, response) => {
      if (request.url === '/elsewhere') followed += 1;
      else asked += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    const host = new URL(server.url).host;
    const redirected = `the node at http://${host} does not answer: it redirects (307). ${ADVICE}`;
    expect(await saidOf(`${server.url}/canary`)).to.deep.equal([redirected, redirected]);
    expect([asked, followed]).to.deep.equal([2, 0]);
    server.close();
    const gone = await serve(() => {});
    gone.close();
    const away = new URL(gone.url).host;
    const refused = `the node at http://${away} does not answer: connect ECONNREFUSED ${away}. ${ADVICE}`;
    expect(await saidOf(`${gone.url}/canary?api-key=canary`)).to.deep.equal([refused, refused]);
    // Node refuses this URL and quotes all of it in its error.
    const [withUser] = await saidOf('http://user:canary@127.0.0.1:1/canary');
    expect(withUser)
      .to.match(/^the node at http:\/\/127\.0\.0\.1:1 does not answer: .*credentials/)
      .and.not.include('canary');
  });

  it('are refused if their name is nearly that of a setting, which is named', () => {
    const near = {
      SPONSR: 'SPONSOR',
      SPOSNOR: 'SPONSOR',
      SPONSORS: 'SPONSOR',
      sponsor: 'SPONSOR',
      METRIC_TOKEN: 'METRICS_TOKEN',
      OPERATOR_CONTACTS: 'OPERATOR_CONTACT',
      LETN_LAMPORTS: 'LENT_LAMPORTS',
      X402_FEE_PAYER: 'X402_FEE_PAYER_KEYPAIR',
      MIN_RUNWAY: 'MIN_RUNWAY_HOURS',
      DATABASE_URI: 'DATABASE_URL',
    };
    for (const [name, setting] of Object.entries(near)) {
      const message = refusal(() => readRelay({ RELAY_KEYPAIR: 'x', [name]: 'canary' }));
      expect(message).to.equal(`${name} is no setting; did you mean ${setting}? Correct or remove it`);
    }
    expect(refusal(() => readIndexer({ DATA_DRI: 'x', LOG_LEVEL: 'loud' })).split('\n')).to.have.length(2);
  });

  it('are not mistaken for what others keep in the environment, nor for settings of our other programs', () => {
    const others =
      'HOME HOSTNAME PATH PWD SHELL USER TERM LANG CI NODE_ENV NODE_OPTIONS INIT_CWD XDG_DATA_DIRS XDG_DATA_HOME http_proxy npm_config_loglevel ANCHOR_WALLET ANCHOR_PROVIDER_URL USDC_MINT RELAY_AUTHORITIES ADMIN_DELAY_SECONDS GUARDIAN MARKETPLACE_URL MARKETPLACE_API_KEY API_KEY SOLANA_KEYPAIR DOMAIN RELAYS POSTGRES_PASSWORD COMPOSE_FILE COMPOSE_ENV_FILES RUST_LOG VM DATABASE KEYS PGHOST PGPORT SSH_CONNECTION KUBERNETES_PORT RELAY_1_SERVICE_PORT';
    const environment = Object.fromEntries(others.split(' ').map((name) => [name, 'x']));
    expect(readIndexer(environment).path).to.equal(readIndexer({}).path);
    expect(refusal(() => readRelay(environment))).to.match(/^RELAY_KEYPAIR is required: [^\n]+$/);
  });

  it('are all known to relay and indexer, which share a file of settings', () => {
    const named = (text: string) => [...text.matchAll(/^ {2}([A-Z_0-9]+) /gm)].map((match) => [match[1]!, '']);
    const all = Object.fromEntries(named(`${describeRelay()}\n${describeIndexer()}`).map(([name]) => [name!, 'x']));
    expect(refusal(() => readRelay(all))).to.not.include('is no setting');
    expect(refusal(() => readIndexer(all))).to.not.include('is no setting');
  });

  it('count as unset when they are empty', () => {
    expect(readIndexer({ DATA_DIR: '', HELIUS_URL: '', LOG_LEVEL: '' })).to.deep.include({ logLevel: 'info' });
    expect(refusal(() => readRelay({ RELAY_KEYPAIR: '' }))).to.match(/^RELAY_KEYPAIR is required: [^\n]+$/);
  });
});
