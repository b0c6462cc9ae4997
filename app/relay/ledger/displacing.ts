/**
 * Which rows of strangers go when there are too many of a kind: the oldest ones of the network with the most. If no
 * network has more than a few, the oldest ones of all go. So many networks together cannot displace what a newcomer has
 * just added, and a network with a few rows displaces its own when it adds more.
 */
import { type RawBuilder, sql } from 'kysely';

/** A person at a few devices. */
const FEW = 5;

/** The condition for the rows that may go. `ofStrangers` selects all rows of strangers in the table. */
export function mayGo(table: string, ofStrangers: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`${ofStrangers} AND network = COALESCE((SELECT network FROM ${sql.table(table)} WHERE ${ofStrangers}
    GROUP BY network HAVING count(*) > ${sql.lit(FEW)} ORDER BY count(*) DESC, network LIMIT 1), network)`;
}
