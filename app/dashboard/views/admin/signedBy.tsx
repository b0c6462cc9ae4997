/** Who signed a transaction of the log: the admin, the guardian, or another wallet. */
import { useQuery } from '@tanstack/react-query';
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

/** A role, if the wallet has one, and the wallet, if it is known; on a phone below each other. */
export const By = ({ who, wallet }: { who?: string | undefined; wallet?: string | undefined }) => (
  <span className="inline-flex items-center gap-x-1.5 max-sm:flex-col max-sm:items-end">
    {who}
    {wallet && <Id value={wallet} {...(!who && { kind: 'address' })} />}
  </span>
);

/** `admin`: the one of that time, if it is known. */
export function SignedBy({ event, admin }: { event: AdminEvent; admin: string | undefined }) {
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
  if (isOfAdmin) return <By who="Admin" wallet={admin} />;
  const signers = named === undefined ? read : [named];
  if (!signers) return <By who={isPending ? '…' : 'Not known'} />;
  const { guardian } = pending ?? {};
  if (guardian && signers.includes(guardian)) return <By who="Guardian" wallet={guardian} />;
  if (config && signers.includes(config.admin)) return <By who="Admin" wallet={config.admin} />;
  return <By wallet={signers[0]} />;
}
