/** All events: when each is sent, and the fields of its data. */
import { Fragment } from 'react';
import { EVENT_DATA } from '../../../sdk/wire/events.ts';
import { Table } from '../../parts/table.tsx';
import { type EventGroup, useMeanings } from './eventGroups.ts';

export function EventsTable({ groups }: { groups: readonly EventGroup[] }) {
  const meaningOf = useMeanings();
  return (
    <Table label="Events" head={['Event, and the fields of its data', 'When']} hasCards>
      {groups.map(({ name, types }) => (
        <Fragment key={name}>
          <tr className="bg-sunken">
            <th scope="colgroup" colSpan={2} className="px-3 py-2 font-medium max-sm:p-0 sm:px-4">
              {name}
            </th>
          </tr>
          {types.map((type) => (
            <tr key={type}>
              <td className="sm:w-1/2">
                <span className="block font-mono text-[0.8125rem] font-medium">{type}</span>
                <code className="font-mono text-xs text-faint [overflow-wrap:anywhere]">
                  {Object.keys(EVENT_DATA[type].shape).join(', ')}
                </code>
              </td>
              <td className="text-faint">{meaningOf(type)}</td>
            </tr>
          ))}
        </Fragment>
      ))}
    </Table>
  );
}
