/** Who can replace the program, read from the chain: the service cannot say anything else. */
import { useQuery } from '@tanstack/react-query';
import bs58 from 'bs58';
import { PROGRAM_HEAD_SIZE, programDataOf, upgradeKeyOf } from '../../../sdk/program/foreign.ts';
import type { MarketplaceConfig } from '../../../sdk/wire/procedures.ts';
import { Unread } from '../../parts/trouble.tsx';
import { Id } from '../../parts/values.tsx';
import { readAccounts } from '../../wallet/accounts.ts';

async function readHead(address: string): Promise<Uint8Array> {
  const [account] = await readAccounts([address], PROGRAM_HEAD_SIZE);
  if (!account) throw new Error('The node does not have the program.');
  return account.data;
}

/** Base58; null if nobody can replace the program any more. */
async function readUpgradeKey(programId: string): Promise<string | null> {
  const key = upgradeKeyOf(await readHead(bs58.encode(programDataOf(await readHead(programId)))));
  return key && bs58.encode(key);
}

interface UpgradeKeyProps {
  config: MarketplaceConfig;
  /** What to know if somebody has it. */
  warning?: string;
}

export function UpgradeKey({ config: { program_id, admin }, warning }: UpgradeKeyProps) {
  const query = useQuery({ queryKey: ['chain', 'upgradeKey', program_id], queryFn: () => readUpgradeKey(program_id) });
  if (query.data === undefined) return <Unread query={query} what="The holder" className="h-6" />;
  if (query.data === null) return 'Nobody has it: the program cannot be replaced any more.';
  return (
    <span className="grid justify-items-start">
      <Id value={query.data} kind="address" />
      <span className="text-faint">
        {query.data === admin ? 'The admin’s wallet. ' : ''}Read from the chain: it can replace the program.
      </span>
      {warning && <span className="text-warn">{warning}</span>}
    </span>
  );
}
