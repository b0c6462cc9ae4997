/**
 * `@agent-marketplace/sdk/creator`, for Node: an agent's server, the check of its calls' signatures, and its signing
 * key.
 */

export {
  hashResult,
  requestHash,
  signMessage,
  signResult,
  verifyMessage,
  verifyResultSignature,
} from '../receipt/receipt.ts';
export {
  type CallPurpose,
  callKeyId,
  KEY_DIRECTORY_PATH,
  KEY_DIRECTORY_TYPE,
  type PublicJwk,
} from './callSignature.ts';
export { type Conformance, createTestKeys, type Finding, testCreator } from './conformance.ts';
export type { ConformanceTarget, ConformanceTools } from './conformanceCalls.ts';
export * from './creator.ts';
