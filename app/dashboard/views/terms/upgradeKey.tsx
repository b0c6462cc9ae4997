/** Who can replace the program, read from the chain: the service cannot say anything else. */
import { useQuery } from '@tanstack/react-query';
import bs58 from 'bs58';
import { PROGRAM_HEAD_SIZE, programDataOf, upgradeKeyOf } from '../../../sdk/program/foreign.ts';
import type { MarketplaceConfig } from '../../../sdk/wire/procedures.ts';
import { Unread } from '../../parts/trouble.tsx';
import { Id } from '../../parts/values.tsx';
import { askNode } from '../../wallet/node.ts';

/** The beginning of an account, final. */
async function readHead(address: string): Promise<Uint8Array> {
  const options = { encoding: 'base64', commitment: 'finalized', dataSlice: { offset: 0, length: PROGRAM_HEAD_SIZE } };
  const { result } = await askNode('getAccountInfo', [address, options]);
  if (!result?.value) throw new Error('The node did not return the program.');
  return Uint8Array.from(atob(result.value.data[0]), (letter) => letter.charCodeAt(0));
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
