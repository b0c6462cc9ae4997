// Compiles one program crate to SBF with upstream Rust. The bytes depend on the sources and the tool versions only:
// folders are mapped to fixed names, and nothing of the machine goes into a flag that the compiler hashes.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { BuildError, ROOT, run } from './process.ts';
import type { Toolchain } from './toolchain.ts';

const BUILD_FOLDER = join(ROOT, 'target/sbf');
const HERE = join(ROOT, 'scripts/build');

/** Folder of the finished programs, the same as that of `anchor build`. */
export const DEPLOY_FOLDER = join(ROOT, 'target/deploy');

/** A program of the workspace: package name, crate name (that of the `.so`) and folder. */
export interface Program {
  package: string;
  crate: string;
  folder: string;
  /** Linked for bankrun too. */
  onBankrun?: boolean;
}

/** What clusters execute and, with SIMD-0500, all that they let anybody deploy. */
const ARCH = 'v3';
/** What bankrun (Solana 1.18) executes; used by its tests only. */
const BANKRUN_ARCH = 'v0';

export const MARKETPLACE: Program = {
  package: 'marketplace',
  crate: 'marketplace',
  folder: 'programs/marketplace',
  onBankrun: true,
};

/** Where a build finds the workspace, works, and leaves the program: absolute paths. */
export interface BuildPlace {
  root: string;
  work: string;
  output: string;
}

const USUAL_PLACE: BuildPlace = { root: ROOT, work: BUILD_FOLDER, output: DEPLOY_FOLDER };

/** What makes the program small, at the price of few compute units. */
const SIZE_FLAGS = [
  // Inlining of small functions only: LLVM's own limit saves few compute units more and makes the program a quarter larger.
  '-Cllvm-args=-inline-threshold=70',
  // rustc has inlined what matters; the linker's second round only makes the program a third larger.
  '-Clink-arg=--llvm-args=-inline-threshold=0',
  // Copies of up to 8 words in place, longer ones by memcpy: LLVM's own limit is 128, at 16 bytes of code for each.
  '-Clink-arg=--llvm-args=-bpf-max-stores-per-memfunc=8',
];

function rustFlags(tools: Toolchain, root: string): string {
  const cargoHome = process.env.CARGO_HOME || join(homedir(), '.cargo');
  const flags = [
    // The Solana crates call the runtime's syscalls only for this system.
    '--cfg=target_os="solana"',
    // `std` has no minimum alignment for BPF; this gives it one and changes nothing else.
    '--cfg=target_arch="csky"',
    '-Aexplicit_builtin_cfgs_in_flags',
    '-Zunstable-options',
    // A program runs on one thread: atomics become plain loads and stores.
    '-Cpasses=lower-atomic',
    '-Ctarget-cpu=v2',
    // As SBF allows; without it LLVM copies public keys byte by byte, which almost doubles the program.
    '-Ctarget-feature=+allows-misaligned-mem-access',
    '-Cpanic=immediate-abort',
    '-Clink-arg=--llvm-args=-bpf-stack-size=4096',
    ...SIZE_FLAGS,
    `--remap-path-prefix=${root}=/program`,
    `--remap-path-prefix=${cargoHome}=/cargo`,
    `--remap-path-prefix=${tools.sysroot}=/rust`,
  ];
  return flags.join('\x1f');
}

/** Compiles the builtins into target/, and gives the bitcode's path. */
async function compileBuiltins(tools: Toolchain): Promise<string> {
  const bitcode = join(ROOT, 'target/builtins.bc');
  mkdirSync(join(ROOT, 'target'), { recursive: true });
  const flags = [
    '-O2',
    '-ffreestanding',
    '-fno-builtin',
    '--target=bpfel',
    '-mcpu=v2',
    '-emit-llvm',
    '-Wall',
    '-Werror',
  ];
  await run(tools.clang, [...flags, '-c', 'builtins.c', '-o', bitcode], { cwd: HERE });
  return bitcode;
}

/**
 * Empties the build folder when the linking step has changed since it was filled: cargo does not know of the builtins,
 * the wrapper and the linker, and would take the old result for fresh.
 */
function forgetOtherLinking(folder: string, builtins: Buffer, tools: Toolchain): void {
  const key = createHash('sha256')
    .update(builtins)
    .update(readFileSync(join(HERE, 'sbf-link')))
    .update(tools.linker);
  const hash = key.digest('hex');
  const stamp = join(folder, 'linking');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(stamp, hash);
}

/** One program, linked: for clusters, and for bankrun where the program is tested there. */
export interface Binaries {
  cluster: Buffer;
  bankrun: Buffer | null;
}

/** Builds the program into `target/deploy/CRATE.so`, or where else `place` says, and gives its bytes. */
export async function compileProgram(program: Program, tools: Toolchain, place = USUAL_PLACE): Promise<Binaries> {
  const { root, output, work } = place;
  const builtins = await compileBuiltins(tools);
  forgetOtherLinking(work, readFileSync(builtins), tools);
  const linked = join(work, 'linked');
  const arches = program.onBankrun ? [ARCH, BANKRUN_ARCH] : [ARCH];
  for (const arch of arches) mkdirSync(join(linked, arch), { recursive: true });
  const target = [
    '--target',
    join(HERE, 'sbf-solana-zkvm.json'),
    '-Zjson-target-spec',
    '-Zbuild-std=std',
    '-Zbuild-std-features=',
  ];
  const cargo = ['build', '--release', '--locked', '-p', program.package, '--target-dir', work, ...target];
  await run('cargo', [`+${tools.nightly}`, ...cargo], {
    cwd: root,
    env: {
      CARGO_ENCODED_RUSTFLAGS: rustFlags(tools, root),
      RUSTC_BOOTSTRAP_SYNTHETIC_TARGET: '1',
      PATH: `${HERE}:${process.env.PATH}`,
      SBF_PROGRAM: program.crate,
      SBF_LINKER: tools.linker,
      SBF_BUILTINS: builtins,
      SBF_OUTPUT_ROOT: linked,
      SBF_ARCHES: arches.join(' '),
    },
  });
  // The linker puts its result here; cargo's own copy is made from it, so an unchanged crate leaves it in place.
  const readLinked = (arch: string): Buffer => {
    const bytes = readFileSync(join(linked, arch, 'target/deploy', `${program.crate}.so`));
    if (bytes.includes(root)) throw new BuildError(`${program.crate}.so contains the path of this folder.`);
    return bytes;
  };
  const cluster = readLinked(ARCH);
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, `${program.crate}.so`), cluster);
  return { cluster, bankrun: program.onBankrun ? readLinked(BANKRUN_ARCH) : null };
}

/** The first platform-tools whose Rust (1.89) reads the lock file and compiles its crates. */
const PLATFORM_TOOLS = 'v1.52';

/** Builds with the Solana platform-tools instead, for those who have them; the bytes differ from ours. */
export async function compileOfficially(program: Program): Promise<Buffer> {
  await run(
    'cargo',
    ['build-sbf', '--tools-version', PLATFORM_TOOLS, '--manifest-path', join(program.folder, 'Cargo.toml')],
    {
      env: { CARGO_PROFILE_RELEASE_LTO: 'fat' },
    },
  );
  return readFileSync(join(DEPLOY_FOLDER, `${program.crate}.so`));
}
