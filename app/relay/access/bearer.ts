/** The token of `Authorization: Bearer <token>`; null for anything else. */
export function readBearer(authorization: string | undefined): string | null {
  return /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}
