/** The wallet's statement by days as a file, for a range of days. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { StatementRole } from '../../sdk/wire/choices.ts';
import { useSession } from '../wallet/session.ts';
import { Dialog } from './dialog.tsx';
import { Failed } from './failed.tsx';
import { download, faultOf, lastDays, RangeFields } from './range.tsx';
import { Button, Select } from './ui.tsx';

const ABOUT: Record<StatementRole, string> = {
  caller: 'Calls, payments, refunds and awards of this wallet and its keys: one row for each UTC day.',
  creator: 'Calls, earnings, fees and upheld disputes of all your agents: one row for each UTC day.',
};
const TYPES = { csv: 'text/csv', json: 'application/json' };

/** Renders nothing if no wallet is signed in. */
export function StatementButton({ as }: { as: StatementRole }) {
  const { wallet } = useSession();
  const [isOpen, setOpen] = useState(false);
  if (!wallet) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <span>
          Daily statement<span className="max-md:hidden"> (CSV, JSON)</span>
        </span>
      </Button>
      {isOpen && <StatementDialog as={as} onClose={() => setOpen(false)} />}
    </>
  );
}

const ROLES: Record<StatementRole, string> = { caller: 'Payments of this wallet', creator: 'Earnings of my agents' };

export function StatementDialog({ as = 'caller', onClose }: { as?: StatementRole; onClose(): void }) {
  const [role, setRole] = useState(as);
  const [range, setRange] = useState(lastDays);
  const save = useMutation({
    mutationFn: (format: keyof typeof TYPES) => {
      const query = new URLSearchParams({ role, ...range, format });
      const name = `statement-${role}-${range.from}-${range.to}.${format}`;
      return download(`/v1/statements/daily?${query}`, name, TYPES[format]);
    },
  });
  return (
    <Dialog title="Statement" about={ABOUT[role]} onClose={onClose}>
      <div className="grid gap-4">
        <Select label="Statement of" value={role} onChange={({ target }) => setRole(target.value as StatementRole)}>
          {Object.entries(ROLES).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </Select>
        <RangeFields range={range} onChange={setRange} />
        <p className="text-sm text-faint">
          Each day includes the calls that ended and the disputes that were decided on it. Calls in progress are not
          included.
        </p>
        <Failed error={save.error} title="The statement could not be downloaded" />
        <div className="flex flex-wrap justify-end gap-2">
          {(['csv', 'json'] as const).map((format) => (
            <Button
              key={format}
              kind={format === 'csv' ? 'primary' : 'plain'}
              disabled={faultOf(range) !== null || save.isPending}
              onClick={() => save.mutate(format)}
            >
              Download {format.toUpperCase()}
            </Button>
          ))}
        </div>
      </div>
    </Dialog>
  );
}
