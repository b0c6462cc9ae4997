/** Examples of answers about executions. All show one settled execution, except the failed one. */

import { DEVNET_GENESIS } from '../../../sdk/program/clusters.ts';
import { PROGRAM_ID } from '../../../sdk/program/program.ts';
import { hashResult } from '../../../sdk/receipt/receipt.ts';
import { AGENT_ID, CREATOR, EXECUTION_ID, TOKEN, WALLET } from './samples.ts';

export const RESULT = '{"columns":["city"],"rows":[["Istanbul"],["Lagos"]],"row_count":2}';
const SIGNATURE = 'ed25519:2hRQxB1dEzkRA3CxSRSVFVYDGxVaHHRRCQNSsfQhNEi1oNMuuqwy9w5Pj4qsPSVqfjyHNpTM3yZ8CFeeDyN3H7mW';
const RECORD_URL = 'https://explorer.solana.com/address/3kMwk9uKM5mbvVN9qTZcgTdhXyLCVQwDdWBnYhZfZ1nH?cluster=devnet';
export const TRANSACTION_URL =
  'https://explorer.solana.com/tx/57M2CWmssicKLckBbMJFDFhWpozjyJNvwkqwE6TMBSMM5N35o7t323QZY65PuDNZQHs8xYKUriLSkBLfMtoi9z8a?cluster=devnet';
const RESULT_URL = `https://api.example.com/results/${EXECUTION_ID}/${TOKEN}`;

export const TASK = {
  task: 'Cities above ten million',
  parameters: {
    csv: 'city,population\nIstanbul,15655000\nLagos,15388000\nPorto,231962\n',
    query: 'SELECT city FROM csv WHERE population > 10000000',
  },
};

export const SUMMARY = {
  execution_id: EXECUTION_ID,
  agent_id: AGENT_ID,
  agent_name: 'csv-analyst',
  task: TASK.task,
  key_id: '9f86d081884c7d659a2feaa0c55ad015',
  key_name: 'nightly-report',
  deposit: null,
  status: 'completed',
  error: null,
  refund: null,
  dispute: null,
  cost_usdc: 0.25,
  refunded_usdc: 0,
  returned_usdc: 0,
  initiated_at: '2026-11-21T09:24:10.000Z',
  completed_at: '2026-11-21T09:24:11.000Z',
  execution_time_ms: 134,
  on_chain_record: RECORD_URL,
};

export const COMPLETED = {
  ...SUMMARY,
  result: RESULT,
  result_hash: hashResult(RESULT),
  creator_amount_usdc: 0.2475,
  platform_amount_usdc: 0.0025,
  service_fee_usdc: null,
  tokens_used: null,
  ipfs_url: RESULT_URL,
  signature: SIGNATURE,
  execution_signature: null,
  steps: null,
  unclaimed: null,
  archive: null,
  content_deleted_at: null,
};

/** The answer to its request. */
export const SETTLED = {
  execution_id: EXECUTION_ID,
  status: 'completed' as const,
  result: RESULT,
  result_hash: COMPLETED.result_hash,
  cost_usdc: SUMMARY.cost_usdc,
  tokens_used: COMPLETED.tokens_used,
  execution_time_ms: SUMMARY.execution_time_ms,
  on_chain_record: TRANSACTION_URL,
  ipfs_url: RESULT_URL,
};

const HASH = '5d41c0a1c5f6f5f1d4a5f0a8f2c7e6b3a9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4';
export const ARCHIVE = {
  archive: 'GcV4fLFLhqbbLf1nQPoF2SVyDZaD6ac5bFe2RYCWyQkH',
  archive_index: 0,
  tree: '8Wn1dT1Xh3ksuU1fNAYYHFMWBv1dPhvKVTKjv5sbjJgT',
  leaf_index: 40_711,
  record: '3kMwk9uKM5mbvVN9qTZcgTdhXyLCVQwDdWBnYhZfZ1nH',
  fields: Buffer.alloc(286, 1).toString('base64'),
  leaf: HASH,
  proof: Array<string>(20).fill(HASH),
  root: HASH,
  transaction: '57M2CWmssicKLckBbMJFDFhWpozjyJNvwkqwE6TMBSMM5N35o7t323QZY65PuDNZQHs8xYKUriLSkBLfMtoi9z8a',
};

const { record, ...PROOF } = ARCHIVE;
/** An unclaimed refund with its proof. */
export const UNCLAIMED = {
  source: record,
  caller: WALLET,
  amount_usdc: SUMMARY.cost_usdc,
  unclaimed_at: '2026-11-21T10:44:10.000Z',
  claimed_at: null,
  ...PROOF,
  fields: Buffer.alloc(80, 1).toString('base64'),
};

export const RECEIPT = {
  version: 1,
  program_id: PROGRAM_ID.toBase58(),
  genesis_hash: DEVNET_GENESIS,
  execution_id: EXECUTION_ID,
  record: ARCHIVE.record,
  agent_id: AGENT_ID,
  caller: WALLET,
  signing_key: CREATOR,
  request_hash: HASH,
  ...TASK,
  result: RESULT,
  result_hash: COMPLETED.result_hash,
  signature: SIGNATURE,
  execution_signature: null,
  price_usdc: 0.25,
  fee_bps: 100,
  opened_at: SUMMARY.initiated_at,
  settled_at: SUMMARY.completed_at,
  transactions: { open: ARCHIVE.transaction, settle: ARCHIVE.transaction },
  archive: null,
};

export const FAILED = {
  ...COMPLETED,
  status: 'failed',
  cost_usdc: 0,
  refunded_usdc: 0.25,
  result: null,
  result_hash: null,
  creator_amount_usdc: 0,
  platform_amount_usdc: 0,
  execution_time_ms: null,
  ipfs_url: null,
  signature: null,
  error: { code: 'execution_timeout', message: 'The agent did not respond within 30 seconds' },
  refund: 'done',
};

export const LINE = { leaf_index: ARCHIVE.leaf_index, record: ARCHIVE.record, fields: ARCHIVE.fields };
