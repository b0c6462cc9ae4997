// Finds or installs the three tools that turn the programs into SBF: a Rust nightly with LLVM 23, sbpf-linker, and a
// clang that can compile for BPF. Everything is pinned, since other versions may give other bytes.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { BuildError, firstLine, outputOf, progress, run } from './process.ts';

/** LLVM 22 and older cannot pass more than five arguments; stable Rust has no `-Zbuild-std`. */
const PINNED_NIGHTLY = 'nightly-2026-10-30';
const OLDEST_LLVM = 23;
const LINKER_VERSION = '0.2.6';
const CLANG_NAMES = ['clang-22', 'clang-23'];

/** What was used, in words that can be compared: goes into BUILD.json. */
export interface ToolVersions {
  rustc: string;
  llvm: string;
  sbpf_linker: string;
  clang: string;
}

export interface Toolchain {
  /** rustup's name, as in `cargo +NAME`. */
  nightly: string;
  sysroot: string;
  linker: string;
  clang: string;
  versions: ToolVersions;
}

function rustcField(nightly: string, field: string): string | null {
  const output = outputOf('rustc', [`+${nightly}`, '-vV']) ?? '';
  return new RegExp(`^${field}: (.*)$`, 'm').exec(output)?.[1] ?? null;
}

function sysroot(nightly: string): string {
  return firstLine('rustc', [`+${nightly}`, '--print', 'sysroot']) ?? '';
}

function hasStdSource(nightly: string): boolean {
  return existsSync(join(sysroot(nightly), 'lib/rustlib/src/rust/library/std/Cargo.toml'));
}

async function ensureNightly(): Promise<string> {
  if (firstLine('rustup', ['--version']) === null) {
    throw new BuildError('rustup is needed to install the Rust nightly that builds the program: https://rustup.rs');
  }
  if (rustcField(PINNED_NIGHTLY, 'release') && hasStdSource(PINNED_NIGHTLY)) return PINNED_NIGHTLY;
  const install = (name: string) =>
    run('rustup', ['toolchain', 'install', name, '--profile', 'minimal', '-c', 'rust-src', '--no-self-update']);
  progress(`  installing Rust ${PINNED_NIGHTLY} (about a minute) ...`);
  try {
    await install(PINNED_NIGHTLY);
    return PINNED_NIGHTLY;
  } catch {
    progress(
      `  Rust ${PINNED_NIGHTLY} cannot be had; taking the latest nightly. Its bytes may differ from the committed.`,
    );
  }
  if (!rustcField('nightly', 'release') || !hasStdSource('nightly')) await install('nightly');
  const llvm = rustcField('nightly', 'LLVM version') ?? '0';
  if (Number.parseInt(llvm, 10) < OLDEST_LLVM) {
    throw new BuildError(`Rust nightly has LLVM ${llvm}; ${OLDEST_LLVM} or newer is needed.`);
  }
  return 'nightly';
}

/** The linker loads the LLVM of the nightly it was built under, so each nightly has a linker of its own. */
async function ensureLinker(nightly: string, rustc: string): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const release = rustc.replace(/[^\w.-]+/g, '_');
  const folder = join(cache, 'agent-marketplace', `sbpf-linker-${LINKER_VERSION}-${release}`);
  const linker = join(folder, 'bin/sbpf-linker');
  if (!existsSync(linker)) {
    progress(`  installing sbpf-linker ${LINKER_VERSION} (about 70 s) ...`);
    const crate = ['sbpf-linker', '--version', LINKER_VERSION, '--locked', '--root', folder];
    await run('cargo', [`+${nightly}`, 'install', ...crate], { env: { RUSTFLAGS: '' } });
  }
  return linker;
}

async function ensureClang(): Promise<string> {
  const find = () => CLANG_NAMES.find((name) => firstLine(name, ['--version']) !== null);
  const found = find();
  if (found) return found;
  const isRoot = process.getuid?.() === 0;
  if (isRoot && existsSync('/etc/debian_version')) {
    progress('  installing clang-22 ...');
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '-qq'], { env });
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'clang-22'], { env });
    const installed = find();
    if (installed) return installed;
  }
  throw new BuildError('clang-22 is needed to compile scripts/build/builtins.c. On Debian: apt-get install clang-22');
}

/** Makes sure that all tools are there, installing what is missing, and says which versions they are. */
export async function ensureToolchain(): Promise<Toolchain> {
  progress('Checking the toolchain ...');
  const nightly = await ensureNightly();
  const rustc = firstLine('rustc', [`+${nightly}`, '--version']) ?? '';
  const linker = await ensureLinker(nightly, rustc);
  const clang = await ensureClang();
  const versions = {
    rustc,
    llvm: rustcField(nightly, 'LLVM version') ?? '',
    sbpf_linker: LINKER_VERSION,
    clang: /\d+\.\d+\.\d+/.exec(firstLine(clang, ['--version']) ?? '')?.[0] ?? '',
  };
  return { nightly, sysroot: sysroot(nightly), linker, clang, versions };
}
