/** Why a connection to a server failed, in words for those who run it. */
import { own } from '../wire/own.ts';

const BROKEN = 'the server closed the connection before its answer was complete';
const CONNECT_TIMEOUT = 'the server did not accept the connection in time';
const UNKNOWN_HOST = 'the host name has no address';
const UNTRUSTED = 'the TLS certificate is not signed by a known authority';

/** By the error codes of Node, OpenSSL and undici. */
const WORDS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'the TLS certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  EAI_AGAIN: UNKNOWN_HOST,
  ECONNREFUSED: 'no server listens at this address and port',
  ECONNRESET: BROKEN,
  EHOSTUNREACH: 'no route leads to the address',
  ENETUNREACH: 'no route leads to the address',
  ENODATA: UNKNOWN_HOST,
  ENOTFOUND: UNKNOWN_HOST,
  EPIPE: BROKEN,
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS on this port',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the TLS certificate is for another host name',
  ETIMEDOUT: CONNECT_TIMEOUT,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the server does not send the intermediate certificate of its TLS certificate',
  UND_ERR_CONNECT_TIMEOUT: CONNECT_TIMEOUT,
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are larger than 16 KiB',
  UND_ERR_SOCKET: BROKEN,
};

/** Words with the error's code, or the code alone. `fetch` hides the reason in a cause. */
export function describeConnectionFault(error: unknown): string {
  const { cause, code, name, message } = error as NodeJS.ErrnoException;
  if (code === undefined && cause instanceof Error) return describeConnectionFault(cause);
  if (name === 'HTTPParserError') return 'the answer is not HTTP/1.1';
  const words = own(WORDS, code ?? '');
  if (words) return `${words} (${code})`;
  return code ?? (name === 'Error' ? message : name);
}
