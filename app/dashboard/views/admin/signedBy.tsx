/** Who signed a transaction of the log: the admin, the guardian, or another wallet. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ANY_VERSION } from '../../../sdk/program/foreign.ts';
import type { AdminEvent } from '../../../sdk/wire/operationProcedures.ts';
import { Id } from '../../parts/values.tsx';
import { changesQuery, configQuery } from '../../service.ts';
import { askNode } from '../../wallet/node.ts';

/** Only the admin's signature allows them. */
const OF_ADMIN = ['ChangeProposed', 'CreatorVerificationChanged', 'DisputeResolved', 'TreasuryWithdrawn'];

/** The signer that the event names; undefined if only the transaction shows it. */
const namedIn = ({ event, data }: AdminEvent): string | undefined =>
  (event === 'AdminChanged' ? data.admin : data.authority)?.toString();

/** Null if the node no longer has the transaction. */
async function readSigners(signature: string): Promise<string[] | null> {
  const { result } = await askNode('getTransaction', [
    signature,
    { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: ANY_VERSION },
  ]);
  if (!result) return null;
  const { accountKeys, header } = result.transaction.message;
  return accountKeys.slice(0, header.numRequiredSignatures);
}

/** On a phone only whoever is not the admin. */
export const By = ({ children }: { children: ReactNode }) =>
  children === 'Admin' ? (
    <span className="max-sm:hidden">Admin</span>
  ) : (
    <span>
      <span className="sm:hidden"> by </span>
      {children}
    </span>
  );

export function SignedBy({ event }: { event: AdminEvent }) {
  const { data: config } = useQuery(configQuery);
  const { data: pending } = useQuery(changesQuery);
  const named = namedIn(event);
  const isOfAdmin = OF_ADMIN.includes(event.event);
  const { data: read, isPending } = useQuery({
    queryKey: ['signers', event.signature],
    queryFn: () => readSigners(event.signature),
    enabled: !isOfAdmin && named === undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (isOfAdmin) return <By>Admin</By>;
  const signers = named === undefined ? read : [named];
  if (!signers) return <By>{isPending ? '…' : 'not known'}</By>;
  const isSigner = (wallet: string | null | undefined) => wallet != null && signers.includes(wallet);
  if (isSigner(pending?.guardian)) return <By>Guardian</By>;
  return <By>{isSigner(config?.admin) ? 'Admin' : <Id value={signers[0] ?? ''} kind="address" />}</By>;
}
