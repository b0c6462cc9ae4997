/**
 * An instruction must save its accounts before it calls another program, and change none of them afterwards. Anchor
 * writes a `mut` account only at the end. No transaction shows the order, so this test reads the source.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { blank, closing, withoutTests } from '../../scripts/mutate/rust.ts';

const SOURCE = join(import.meta.dirname, '../../programs/marketplace/src');

/** Functions of `creation.rs` that write the account or value in their last argument. */
const WRITERS = ['save', 'write_state', 'create_state'];
/** A call of another program: by the runtime's function, or by one of Anchor's for a certain program. */
const CALLERS = '(?:system_program|token|associated_token)::';

interface RustFunction {
  /** Path relative to the source folder. */
  file: string;
  name: string;
  parameters: string;
  body: string;
}

/** A change or a save of an account, by its name, or a call, by any name. */
interface Step {
  kind: 'change' | 'save' | 'call';
  name: string;
}

/** Finds accounts changed after a call, or not saved before it. `both` names the handlers that change and call. */
function inspect(functions: RustFunction[]): { faults: string[]; both: string[] } {
  const isTransition = ({ file, parameters }: RustFunction) =>
    file.startsWith('state/') && /^\s*&mut self\b/.test(parameters);
  const transitions = new Set(functions.filter(isTransition).map(({ name }) => name));
  const others = functions.filter((candidate) => !isTransition(candidate));
  const faults: string[] = [];
  const both: string[] = [];
  for (const { file, name, body } of others) {
    if (!file.startsWith('instructions/') || !name.endsWith('_handler')) continue;
    const steps = stepsOf({ file, body }, transitions, others, [name]);
    const unsaved = new Set<string>();
    let called = false;
    for (const step of steps) {
      if (step.kind === 'save') unsaved.delete(step.name);
      if (step.kind === 'change') {
        unsaved.add(step.name);
        if (called) faults.push(`${name} changes ${step.name} after a call`);
      }
      if (step.kind === 'call') {
        called = true;
        for (const account of unsaved) faults.push(`${name} calls before it saves ${account}`);
      }
    }
    if (called && steps.some(({ kind }) => kind === 'change')) both.push(name.replace('_handler', ''));
  }
  return { faults: [...new Set(faults)], both };
}

/**
 * The steps of a function in the order of its text. Functions that it uses are expanded in place, of several of a name
 * those of the same file.
 */
function stepsOf(
  { file, body }: Pick<RustFunction, 'file' | 'body'>,
  transitions: Set<string>,
  others: RustFunction[],
  within: string[],
): Step[] {
  const steps: Step[] = [];
  // Matches an assignment to a field, or a call of a function or method.
  const pattern = new RegExp(`\\b(\\w+)\\.\\w+ [-+]?= |(?:\\b(\\w+)\\s*\\.\\s*)?(\\b${CALLERS})?\\b(\\w+)\\(`, 'g');
  for (const match of body.matchAll(pattern)) {
    const [whole, owner, receiver, caller, name] = match;
    if (owner && owner !== 'self') steps.push({ kind: 'change', name: owner });
    if (!name) continue;
    if (WRITERS.includes(name)) {
      const open = match.index + whole.length - 1;
      const account = /(\w+)\W*$/.exec(body.slice(open, closing(body, open)))![1]!;
      steps.push({ kind: 'save', name: account });
    }
    const own = receiver === 'accounts' || receiver === 'self';
    if (caller || name === 'invoke_signed') steps.push({ kind: 'call', name });
    else if (receiver && !own && (name === 'set_inner' || transitions.has(name)))
      steps.push({ kind: 'change', name: receiver });
    else if (!within.includes(name)) {
      const named = others.filter((other) => other.name === name);
      const nearest = named.filter((other) => other.file === file);
      for (const used of nearest.length > 0 ? nearest : named)
        steps.push(...stepsOf(used, transitions, others, [...within, name]));
    }
  }
  return steps;
}

function functionsOf(file: string, text: string): RustFunction[] {
  const source = withoutTests(blank(text));
  return [...source.matchAll(/\bfn (\w+)(?:<[^(]*>)?\(/g)].map((match) => {
    const open = match.index + match[0].length - 1;
    const closed = closing(source, open);
    const start = source.indexOf('{', closed);
    const body = source.slice(start, closing(source, start) + 1);
    return { file, name: match[1]!, parameters: source.slice(open + 1, closed), body };
  });
}

describe('writes before calls:', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.rs'));
  const program = files.flatMap((file) => functionsOf(file, readFileSync(join(SOURCE, file), 'utf8')));

  it('every instruction that changes an account saves it before it calls another program', () => {
    const { faults, both } = inspect(program);
    expect(faults).to.deep.equal([]);
    const late = [
      'claim_dispute_award',
      'list_agent',
      'resolve_dispute',
      'return_collateral',
      'sweep_forfeits',
      'top_up_collateral',
    ];
    expect(both).to.include.members([...late, 'open_execution_with_grant', 'refund_execution', 'settle_execution']);
  });
});
