/**
 * `npm run build:program`: compiles the on-chain programs to SBF, and generates the IDL that everything else is typed by.
 *
 * Results that are committed: the programs (artifact folders), BUILD.json and app/sdk/program/idl. `--check` proves them fresh.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compileOfficially, compileProgram, DEPLOY_FOLDER, MARKETPLACE, type Program } from './build/compile.ts';
import { generateIdl, writeIdl } from './build/idl.ts';
import { BuildError, firstLine, progress, ROOT } from './build/process.ts';
import { sourceHash } from './build/sourcehash.ts';
import { ensureToolchain, type Toolchain, type ToolVersions } from './build/toolchain.ts';

const HELP = `Usage: npm run build:program -- [options]

Builds the programs below programs/, and the marketplace's IDL.
  (none)       build with upstream Rust and write the committed artifacts and app/sdk/program/idl
  --check      build, change no committed file, and fail unless the committed ones are fresh
  --official   build with the Solana platform-tools (cargo build-sbf) into target/deploy only
  --json       print the result as one JSON object on standard output
  --help       print this text

The tools are installed when missing: a Rust nightly by rustup, sbpf-linker by cargo, clang-22 by apt-get (as root on
Debian; elsewhere install it first). The first build takes about three minutes.`;

const TEST_CALLER: Program = { package: 'test-caller', crate: 'test_caller', folder: 'tests/program/caller' };
const TEST_VERIFIER: Program = {
  package: 'test-verifier',
  crate: 'test_verifier',
  folder: 'tests/program/verifier',
};
/** Stands for what a tutorial's reader would build, so our flags are not for it. */
const NAIVE_ESCROW: Program = {
  package: 'naive-escrow',
  crate: 'naive_escrow',
  folder: 'bench/program/naive',
  plain: true,
};
const PROGRAMS = [MARKETPLACE, TEST_CALLER, TEST_VERIFIER, NAIVE_ESCROW];
const IDL_FOLDER = join(ROOT, 'app/sdk/program/idl');
const BUILD_JSON = join(ROOT, MARKETPLACE.folder, 'artifact/BUILD.json');

/** What BUILD.json holds; `programs` maps crate names to the artifacts' SHA-256 (hex) and length in bytes. */
interface BuildRecord {
  source_hash: string;
  programs: Record<string, { sha256: string; bytes: number }>;
  toolchain: ToolVersions;
}

const artifactPath = (program: Program) => join(ROOT, program.folder, 'artifact', `${program.crate}.so`);

function describe(bytes: Buffer): { sha256: string; bytes: number } {
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
}

/** Compiles all programs into target/deploy. */
async function compileAll(tools: Toolchain): Promise<{ record: BuildRecord; binaries: Map<Program, Buffer> }> {
  const binaries = new Map<Program, Buffer>();
  const record: BuildRecord = { source_hash: sourceHash(), programs: {}, toolchain: tools.versions };
  for (const program of PROGRAMS) {
    progress(`Compiling ${program.package} with ${tools.versions.rustc} ...`);
    const bytes = await compileProgram(program, tools);
    binaries.set(program, bytes);
    record.programs[program.crate] = describe(bytes);
    progress(`  target/deploy/${program.crate}.so, ${bytes.length} bytes`);
  }
  return { record, binaries };
}

async function build(): Promise<object> {
  const tools = await ensureToolchain();
  const { record, binaries } = await compileAll(tools);
  progress('Generating the IDL ...');
  const idl = await generateIdl(MARKETPLACE, tools.nightly);
  for (const [program, bytes] of binaries) {
    mkdirSync(join(ROOT, program.folder, 'artifact'), { recursive: true });
    writeFileSync(artifactPath(program), bytes);
  }
  writeIdl(IDL_FOLDER, idl);
  writeFileSync(BUILD_JSON, `${JSON.stringify(record, null, 2)}\n`);
  progress('Wrote the programs, BUILD.json and app/sdk/program/idl.');
  return record;
}

/** The committed file as text; the reader is told how to make it when it is missing. */
function readCommitted(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    throw new BuildError(`${path.slice(ROOT.length + 1)} is missing: run npm run build:program and commit the result.`);
  }
}

async function check(): Promise<object> {
  const committed = JSON.parse(readCommitted(BUILD_JSON).toString()) as BuildRecord;
  const stale: string[] = [];
  if (committed.source_hash !== sourceHash()) stale.push('BUILD.json (the sources changed after the build)');
  for (const program of PROGRAMS) {
    const { sha256 } = describe(readCommitted(artifactPath(program)));
    if (sha256 !== committed.programs[program.crate]?.sha256) stale.push(`${program.crate}.so (not the one built)`);
  }
  const tools = await ensureToolchain();
  progress('Generating the IDL ...');
  for (const [name, text] of Object.entries(await generateIdl(MARKETPLACE, tools.nightly))) {
    if (readCommitted(join(IDL_FOLDER, name)).toString() !== text) stale.push(`app/sdk/program/idl/${name}`);
  }
  const { record, binaries } = await compileAll(tools);
  const sameTools = JSON.stringify(record.toolchain) === JSON.stringify(committed.toolchain);
  const different = PROGRAMS.filter((program) => !binaries.get(program)?.equals(readCommitted(artifactPath(program))));
  if (sameTools) stale.push(...different.map((program) => `${program.crate}.so (rebuilding gives other bytes)`));
  if (stale.length > 0) {
    throw new BuildError(`Stale:\n  ${stale.join('\n  ')}\nRun npm run build:program and commit the result.`);
  }
  if (sameTools) progress('The committed programs are byte for byte what these sources give.');
  else progress('Other tool versions than the committed programs were built with; the rebuilt are in target/deploy.');
  return { ...record, fresh: true, compared: sameTools ? 'bytes' : 'source_hash', rebuilt: DEPLOY_FOLDER };
}

async function official(): Promise<object> {
  if (firstLine('cargo', ['build-sbf', '--version']) === null) {
    throw new BuildError('cargo build-sbf is not installed. It comes with the Solana (Agave) command-line tools.');
  }
  const built: BuildRecord['programs'] = {};
  for (const program of PROGRAMS) {
    progress(`Compiling ${program.package} with cargo build-sbf ...`);
    built[program.crate] = describe(await compileOfficially(program));
  }
  progress('The programs are in target/deploy; the committed artifacts are unchanged.');
  return { programs: built };
}

const FLAGS = {
  check: { type: 'boolean' },
  official: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

try {
  const { values } = parseArgs({ options: FLAGS });
  if (values.help) {
    console.log(HELP);
  } else {
    if (values.check && values.official) throw new BuildError('--check and --official exclude each other.');
    const result = await (values.official ? official() : values.check ? check() : build());
    if (values.json) console.log(JSON.stringify(result, null, 2));
  }
} catch (error) {
  const isUsage = error instanceof TypeError && 'code' in error;
  console.error(error instanceof BuildError || isUsage ? (error as Error).message : error);
  process.exitCode = isUsage ? 2 : 1;
}
