/** Who can do what in this marketplace, the most powerful key first. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import bs58 from 'bs58';
import type { ReactNode } from 'react';
import { PROGRAM_HEAD_SIZE, programDataOf, upgradeKeyOf } from '../../../sdk/program/foreign.ts';
import type { MarketplaceConfig, PendingChanges } from '../../../sdk/wire/procedures.ts';
import { ContactOperator } from '../../parts/links.tsx';
import { Unread } from '../../parts/trouble.tsx';
import { Card, cx, Facts, LINK, Note } from '../../parts/ui.tsx';
import { formatSpan, Id } from '../../parts/values.tsx';
import { readAccounts } from '../../wallet/accounts.ts';

export const GUARDIAN_POWERS =
  'A guardian can pause new calls, withdrawals from the treasury and transfers to it of what is kept for later callers. It can cancel pending changes of settings or admin, and remove relay authorities. Nothing else.';

export function Roles({ config, pending }: { config: MarketplaceConfig; pending: PendingChanges | undefined }) {
  const { admin, relay_authorities: relays } = config;
  return (
    <Card id="roles" className="grid gap-4">
      <h2 className="font-semibold">Who can do what</h2>
      <Note tone="warn" title="The escrow program is not audited by outside experts">
        The holder of its upgrade key (upgrade authority) can replace the program, and so change every rule here, take
        the escrows and the collateral that it holds, and spend the allowances of API keys. The delay and the guardian
        do not limit it.
      </Note>
      <Facts
        rows={[
          ['Upgrade key', <UpgradeKey key="upgrades" config={config} />],
          config.operator_contact !== null && [
            'Operator',
            <Role key="operator" about="Runs this service: the page, the API and its relays.">
              <ContactOperator className={cx('wrap-anywhere', LINK)} isAddress />
            </Role>,
          ],
          [
            'Admin',
            <Role
              key="admin"
              about="Changes the settings, decides disputes, verifies creators, stops and resumes new calls, and withdraws what is in the treasury: fees, and the part of collateral that disputes took above the price, once it is no longer kept for callers. As admin it cannot take a price in escrow: the program pays it out only with the agent’s signature over a result, and otherwise returns it to its caller."
            >
              <Id value={admin} kind="address" />
            </Role>,
          ],
          pending !== undefined && [
            'Guardian',
            <Role key="guardian" about={GUARDIAN_POWERS}>
              {pending.guardian ? <Id value={pending.guardian} kind="address" /> : <span>No guardian{FOR_TESTS}</span>}
            </Role>,
          ],
          pending !== undefined && [
            'Delay of changes',
            <Role key="delay" about="The time from the announcement of a change until it can be applied.">
              {pending.admin_delay_seconds === 0 ? (
                <span>No delay{FOR_TESTS}</span>
              ) : (
                formatSpan(pending.admin_delay_seconds)
              )}
            </Role>,
          ],
          [
            'Relay authorities',
            <Role
              key="relays"
              about="The marketplace’s keys that settle and refund calls, and start calls by API key, within the key’s budget."
            >
              <span className="grid gap-1">
                {relays.map((key) => (
                  <Id key={key} value={key} kind="address" />
                ))}
                {relays.length === 0 && 'None: nothing is settled'}
              </span>
            </Role>,
          ],
        ]}
      />
    </Card>
  );
}

/** Shown on test networks only. */
const FOR_TESTS = <span className="hidden test:inline">: this is a test deployment</span>;

/** Who it is, and in one line what that means. */
const Role = ({ about, children }: { about: string; children: ReactNode }) => (
  <span className="grid justify-items-start gap-0.5">
    {children}
    <span className="text-faint">{about}</span>
  </span>
);

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

export const upgradeKeyQuery = (programId: string) =>
  queryOptions({ queryKey: ['chain', 'upgradeKey', programId], queryFn: () => readUpgradeKey(programId) });

interface UpgradeKeyProps {
  config: MarketplaceConfig;
  /** What to know if somebody has it. */
  warning?: ReactNode;
}

export function UpgradeKey({ config: { program_id, admin }, warning }: UpgradeKeyProps) {
  const query = useQuery(upgradeKeyQuery(program_id));
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
