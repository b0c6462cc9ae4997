/** The checks that need only the receipt itself, so no server can change their result. */
import { bytesToHex } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import type { Receipt } from '../wire/receipt.ts';
import { type Check, startCheck } from './checks.ts';
import { executionMessage, hashResult, requestHash, verifyMessage, verifyResultSignature } from './receipt.ts';

/** A whole receipt, or only the identity of an execution. */
export type Claim = Pick<Receipt, 'program_id' | 'execution_id' | 'record'> & Partial<Receipt>;

/** A receipt claims that its execution was settled; an id alone claims nothing. */
export const isReceipt = ({ result_hash }: Claim): boolean => result_hash !== undefined;

const SOURCE = 'receipt';
const NO_RECEIPT = 'No receipt was given, only the id of the execution.';

export function checkResultHash({ result, result_hash }: Claim): Check {
  const check = startCheck('result_hash', SOURCE);
  if (result_hash === undefined) check.lacks(NO_RECEIPT);
  else if (result === undefined) check.lacks('The receipt does not contain the result, only its hash.');
  // A lone surrogate has no UTF-8 bytes, and would be hashed as another text.
  else check.equal('result_hash', result.isWellFormed() ? hashResult(result) : 'none: not Unicode', result_hash);
  return check.end();
}

/** Uses the rules of the chain, which are stricter than those of most libraries. */
export function checkSignature({ signing_key, result_hash, signature }: Claim): Check {
  const check = startCheck('signature', SOURCE);
  if (signing_key === undefined || result_hash === undefined || signature === undefined) check.lacks(NO_RECEIPT);
  else {
    const isValid = verifyResultSignature(keyOf(signing_key), result_hash, signature);
    check.equal('signature of signing_key over result_hash', validity(isValid), 'valid');
  }
  return check.end();
}

export function checkRequestHash({ task, parameters, request_hash }: Claim): Check {
  const check = startCheck('request_hash', SOURCE);
  if (request_hash === undefined) check.lacks(NO_RECEIPT);
  else if (task === undefined) {
    // No open can commit to parameters without a task.
    if (parameters) check.equal('task', 'missing', 'a value, because parameters are given');
    else check.lacks('The receipt does not contain the request.');
  } else check.equal('request_hash', hashRequest(task, parameters), request_hash);
  return check.end();
}

export function checkExecutionSignature(claim: Claim): Check {
  const { program_id, execution_id, request_hash, result_hash, signing_key, execution_signature } = claim;
  const check = startCheck('execution_signature', SOURCE);
  if (signing_key === undefined || request_hash === undefined || result_hash === undefined) check.lacks(NO_RECEIPT);
  else if (!execution_signature) check.lacks('The creator gave no signature over the execution; it is optional.');
  else {
    const message = executionMessage(program_id, execution_id, request_hash, result_hash);
    const isValid = verifyMessage(keyOf(signing_key), message, execution_signature);
    check.equal('signature of signing_key over the execution', validity(isValid), 'valid');
  }
  return check.end();
}

/** The bytes of a base58 key, empty if malformed. A key of another length than 32 verifies nothing. */
export const keyOf = (address: string): Uint8Array => bs58.decodeUnsafe(address) ?? new Uint8Array();

export const validity = (isValid: boolean): string => (isValid ? 'valid' : 'invalid');

function hashRequest(task: string, parameters: object | undefined): string {
  try {
    return bytesToHex(requestHash(task, parameters));
  } catch (error) {
    return `none: ${(error as Error).message}`;
  }
}
