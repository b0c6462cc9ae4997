// Generates the program's IDL, in the two forms that `anchor build` writes: JSON in snake_case, which is the real one,
// and a TypeScript type in camelCase, which is how `@coral-xyz/anchor` presents it to code.
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

export interface IdlFiles {
  json: string;
  typescript: string;
}

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

/**
 * Generates both files' contents by compiling the program for this machine and asking it for its own description.
 * Anchor's macros look up source positions for that, which only a nightly Rust offers.
 */
export async function generateIdl(program: Program, nightly: string): Promise<IdlFiles> {
  const tool = ['run', '--quiet', '--locked', '-p', 'idl', '--', join(ROOT, program.folder)];
  const env = { RUSTUP_TOOLCHAIN: nightly, CARGO_TARGET_DIR: join(ROOT, 'target/idl-build') };
  const idl = JSON.parse(await run('cargo', tool, { env })) as Idl;
  if (idl.metadata.name !== program.crate) throw new BuildError(`the IDL is that of ${idl.metadata.name}.`);
  const typeName = program.crate.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return { json: `${JSON.stringify(idl, null, 2)}\n`, typescript: toTypeScript(idl, typeName) };
}

/** Writes the files into the folder as CRATE.json and CRATE.ts. */
export function writeIdl(folder: string, program: Program, files: IdlFiles): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${program.crate}.json`), files.json);
  writeFileSync(join(folder, `${program.crate}.ts`), files.typescript);
}
