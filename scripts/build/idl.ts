/**
 * Generates the program's IDL, in the two forms that `anchor build` writes: JSON in snake_case, which is the real one, and
 * a TypeScript type in camelCase, which is how `@coral-xyz/anchor` presents it to code. A third form is the SDK's own: the
 * JSON without its docs as a module, because Node 20 warns of JSON modules and a browser has no use for the docs.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Idl } from '@coral-xyz/anchor';
import type { Program } from './compile.ts';
import { BuildError, ROOT, run } from './process.ts';

// anchor does not export this function from its index under ES modules.
const { convertIdlToCamelCase } = createRequire(import.meta.url)('@coral-xyz/anchor/dist/cjs/idl.js') as {
  convertIdlToCamelCase(idl: Idl): Idl;
};

/** Contents by the name of the file. */
export type IdlFiles = Record<string, string>;

function toTypeScript(idl: Idl, typeName: string): string {
  return `/**
 * Program IDL in camelCase format in order to be used in JS/TS.
 *
 * Note that this is only a type helper and is not the actual IDL. The original
 * IDL can be found at \`${idl.metadata.name}.json\` beside this file.
 */
export type ${typeName} = ${JSON.stringify(convertIdlToCamelCase(idl), null, 2)};
`;
}

function toModule(idl: Idl): string {
  const withoutDocs = JSON.stringify(idl, (key, value) => (key === 'docs' ? undefined : value), 2);
  return `/** The program's interface without its docs: what \`${idl.metadata.name}.json\` says, for code. Generated, like its neighbours. */
import type { ProgramIdl } from '../idlTypes.ts';

export const idl: ProgramIdl = ${withoutDocs};
`;
}

/**
 * Generates the files' contents by compiling the program for this machine and asking it for its own description.
 * Anchor's macros look up source positions for that, which only a nightly Rust offers.
 */
export async function generateIdl(program: Program, nightly: string): Promise<IdlFiles> {
  const tool = ['run', '--quiet', '--locked', '-p', 'idl', '--', join(ROOT, program.folder)];
  const env = { RUSTUP_TOOLCHAIN: nightly, CARGO_TARGET_DIR: join(ROOT, 'target/idl-build') };
  const idl = JSON.parse(await run('cargo', tool, { env })) as Idl;
  if (idl.metadata.name !== program.crate) throw new BuildError(`the IDL is that of ${idl.metadata.name}.`);
  const typeName = program.crate.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return {
    [`${program.crate}.json`]: `${JSON.stringify(idl, null, 2)}\n`,
    [`${program.crate}.ts`]: toTypeScript(idl, typeName),
    'idl.ts': toModule(idl),
  };
}

/** Writes the files into the folder. */
export function writeIdl(folder: string, files: IdlFiles): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}
