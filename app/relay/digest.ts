/** SHA-256 of texts, and the comparison of secrets. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** SHA-256 in hex. */
export const digestOf = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');

/** True if both texts are equal. The time says nothing about where they differ. */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(digestOf(one)), Buffer.from(digestOf(other)));
