/**
 * Finds the constraints of accounts. Every condition of an `#[account(...)]`, and every type that checks something,
 * makes one mutant by rewriting the source. Creating or closing an account is an effect, not a constraint.
 */
import type { Mutant } from './mutant.ts';
import { blank, closing, oneLine, parts, position, type Range } from './rust.ts';

/** A constraint, and the edit that removes it. */
export interface Constraint extends Mutant {
  edit: Range & { replacement: string };
}

interface Field {
  name: string;
  type: Range;
  /** The `#[account(...)]` attributes of the field, brackets included. */
  attributes: Range[];
}

/** Conditions of a field, as a bare word or the key before `=`. */
const CONDITION = /^(?:mut|has_one|constraint|address|owner|executable|rent_exempt|signer|(?:token|mint)::\w+)\b/;
/** Removed together: seeds without a bump do not compile. */
const DERIVATION = /^(?:seeds|bump)\b/;
const CHECKED_TYPE = /^(?:Signer|Program|Sysvar)\b/;

/** Marks fields that exist only for the IDL. */
const IDL_ONLY = '#[cfg(feature = "idl-build")]';

/** The fields of each struct that derives Accounts, in order, except those that exist only for the IDL. */
function findFields(text: string, blanked: string): Field[] {
  const fields: Field[] = [];
  for (const match of blanked.matchAll(/#\[derive\([^)]*\bAccounts\b[^)]*\)\][^{]*?\bstruct \w+[^{]*\{/g)) {
    let at = match.index + match[0].length;
    const end = closing(blanked, at - 1);
    let attributes: Range[] = [];
    let compiled = true;
    while (at < end) {
      if (blanked.startsWith('#[', at)) {
        const closed = closing(blanked, at + 1) + 1;
        if (blanked.startsWith('#[account(', at)) attributes.push({ start: at, end: closed });
        if (text.slice(at, closed) === IDL_ONLY) compiled = false;
        at = closed;
        continue;
      }
      const head = /^pub (\w+)\s*:\s*/.exec(blanked.slice(at, end));
      if (!head) {
        at += 1;
        continue;
      }
      const start = at + head[0].length;
      const open = blanked.indexOf('<', start);
      const comma = blanked.indexOf(',', start);
      const closed = open >= 0 && open < comma ? closing(blanked, open) + 1 : comma;
      if (compiled) fields.push({ name: head[1]!, type: { start, end: closed }, attributes });
      attributes = [];
      compiled = true;
      at = closed;
    }
  }
  return fields;
}

/** All constraints of one instruction file. Its path is relative to the workspace's root. */
export function findConstraints(file: string, text: string): Constraint[] {
  const blanked = blank(text);
  const found: Constraint[] = [];
  const add = (field: Field, at: number, removed: string, edit: Constraint['edit']) => {
    const shown = `${field.name}: ${oneLine(removed)}`;
    const error = /MarketplaceError::(\w+)/.exec(removed)?.[1] ?? null;
    const { line } = position(text, at);
    found.push({ kind: 'constraint', id: `${file} ${shown} ${line}`, file, line, text: shown, error, edit });
  };
  for (const field of findFields(text, blanked)) {
    for (const attribute of field.attributes) {
      const open = blanked.indexOf('(', attribute.start);
      const items = parts(blanked, { start: open + 1, end: closing(blanked, open) });
      const source = (item: Range) => text.slice(item.start, item.end);
      const without = (removed: Range[]) => {
        const kept = items.filter((item) => !removed.includes(item));
        if (kept.length === 0) return '';
        return `#[account(${kept.map(source).join(', ')})]`;
      };
      for (const item of items.filter((candidate) => CONDITION.test(source(candidate)))) {
        add(field, item.start, source(item), { ...attribute, replacement: without([item]) });
      }
      const derivation = items.filter((item) => DERIVATION.test(source(item)));
      if (derivation.length > 0) {
        const removed = derivation.map(source).join(', ');
        add(field, derivation[0]!.start, removed, { ...attribute, replacement: without(derivation) });
      }
    }
    const type = text.slice(field.type.start, field.type.end);
    if (CHECKED_TYPE.test(type)) {
      add(field, field.type.start, type, { ...field.type, replacement: "UncheckedAccount<'info>" });
    }
  }
  return found;
}

/** The source without the constraint. */
export function withoutConstraint(text: string, { edit }: Constraint): string {
  return text.slice(0, edit.start) + edit.replacement + text.slice(edit.end);
}

/** Shuffles by Fisher-Yates with a 32-bit generator (mulberry32). The same seed gives the same order. */
export function shuffled<Item>(items: Item[], seed: number): Item[] {
  const result = [...items];
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other]!, result[last]!];
  }
  return result;
}
