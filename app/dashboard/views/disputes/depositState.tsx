/** For the caller of an ended dispute: the deposit, and when it comes back. Renders nothing until it is known. */
import { useQuery } from '@tanstack/react-query';
import type { DisputeSummary } from '../../../sdk/wire/disputeProcedures.ts';
import { Day, formatLamports } from '../../parts/values.tsx';
import { depositBackAt, depositQuery } from './deposit.ts';

export function DepositState({ dispute }: { dispute: DisputeSummary }) {
  const { data: held } = useQuery(depositQuery(dispute));
  if (held === undefined) return null;
  if (held === null) return <>Your deposit has come back.</>;
  const at = depositBackAt(dispute);
  const deposit = formatLamports(held.deposit);
  if (at === null) return <>Your deposit of {deposit} comes back once the award is claimed.</>;
  return (
    <>
      Your deposit of {deposit} comes back on <Day at={at} />.
    </>
  );
}
