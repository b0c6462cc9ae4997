/** `@agent-marketplace/sdk/creator`, for Node: the server of an agent, the check of who calls it, and its signing key. */
export {
  type CallPurpose,
  callKeyId,
  KEY_DIRECTORY_PATH,
  KEY_DIRECTORY_TYPE,
  type PublicJwk,
} from './callSignature.ts';
export * from './creator.ts';
export * from './nativeReceipt.ts';
