/**
 * `npm run build:program`: compiles the on-chain programs to SBF, and generates the IDL that everything else is typed by.
 *
 * Results that are committed: the programs (artifact folders), BUILD.json and app/sdk/program/idl. `--check` proves them fresh.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type Binaries,
  compileOfficially,
  compileProgram,
  DEPLOY_FOLDER,
  MARKETPLACE,
  type Program,
} from './build/compile.ts';
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

const TEST_CALLER: Program = {
  package: 'test-caller',
  crate: 'test_caller',
  folder: 'tests/program/caller',
  onBankrun: true,
};
const TEST_VERIFIER: Program = {
  package: 'test-verifier',
  crate: 'test_verifier',
  folder: 'tests/program/verifier',
  onBankrun: true,
};
const PROGRAMS = [MARKETPLACE, TEST_CALLER, TEST_VERIFIER];
/** Paths from the root. */
const IDL_FOLDER = 'app/sdk/program/idl';
const BUILD_JSON = `${MARKETPLACE.folder}/artifact/BUILD.json`;

/** What BUILD.json holds; `programs` maps the artifacts' paths to their SHA-256 (hex) and length in bytes. */
interface BuildRecord {
  source_hash: string;
  programs: Record<string, { sha256: string; bytes: number }>;
  toolchain: ToolVersions;
}

/** The files to commit, each with its path from the root: those for clusters, and those for bankrun's tests. */
function artifactsOf(program: Program, { cluster, bankrun }: Binaries): [string, Buffer][] {
  const file = `${program.crate}.so`;
  const artifacts: [string, Buffer][] = [[`${program.folder}/artifact/${file}`, cluster]];
  if (bankrun) artifacts.push([`tests/program/bankrun/${file}`, bankrun]);
  return artifacts;
}

function describe(bytes: Buffer): { sha256: string; bytes: number } {
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
}

/** Compiles all programs into target/deploy; the artifacts by path. */
async function compileAll(tools: Toolchain): Promise<{ record: BuildRecord; artifacts: Map<string, Buffer> }> {
  const artifacts = new Map<string, Buffer>();
  for (const program of PROGRAMS) {
    progress(`Compiling ${program.package} with ${tools.versions.rustc} ...`);
    const binaries = await compileProgram(program, tools);
    for (const [path, bytes] of artifactsOf(program, binaries)) artifacts.set(path, bytes);
    progress(`  target/deploy/${program.crate}.so, ${binaries.cluster.length} bytes`);
  }
  const programs = Object.fromEntries([...artifacts].map(([path, bytes]) => [path, describe(bytes)]));
  return { record: { source_hash: sourceHash(), programs, toolchain: tools.versions }, artifacts };
}

async function build(): Promise<object> {
  const tools = await ensureToolchain();
  const { record, artifacts } = await compileAll(tools);
  progress('Generating the IDL ...');
  const idl = await generateIdl(MARKETPLACE, tools.nightly);
  for (const [path, bytes] of artifacts) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), bytes);
  }
  writeIdl(join(ROOT, IDL_FOLDER), idl);
  writeFileSync(join(ROOT, BUILD_JSON), `${JSON.stringify(record, null, 2)}\n`);
  progress('Wrote the programs, BUILD.json and app/sdk/program/idl.');
  return record;
}

/** A committed file; the reader is told how to make it when it is missing. Path from the root. */
function readCommitted(path: string): Buffer {
  try {
    return readFileSync(join(ROOT, path));
  } catch {
    throw new BuildError(`${path} is missing: run npm run build:program and commit the result.`);
  }
}

async function check(): Promise<object> {
  const committed = JSON.parse(readCommitted(BUILD_JSON).toString()) as BuildRecord;
  const stale: string[] = [];
  if (committed.source_hash !== sourceHash()) stale.push('BUILD.json (the sources changed after the build)');
  for (const [path, { sha256 }] of Object.entries(committed.programs)) {
    if (describe(readCommitted(path)).sha256 !== sha256) stale.push(`${path} (not the one built)`);
  }
  const tools = await ensureToolchain();
  progress('Generating the IDL ...');
  for (const [name, text] of Object.entries(await generateIdl(MARKETPLACE, tools.nightly))) {
    if (readCommitted(`${IDL_FOLDER}/${name}`).toString() !== text) stale.push(`${IDL_FOLDER}/${name}`);
  }
  const { record, artifacts } = await compileAll(tools);
  const sameTools = JSON.stringify(record.toolchain) === JSON.stringify(committed.toolchain);
  const different = [...artifacts].filter(([path, bytes]) => !bytes.equals(readCommitted(path)));
  if (sameTools) stale.push(...different.map(([path]) => `${path} (rebuilding gives other bytes)`));
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
