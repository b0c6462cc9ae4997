/**
 * The image of deploy/Dockerfile without a container engine, in a folder: the files that the engine would send, and the
 * Dockerfile's own steps. Packages are linked from this checkout, which `npm ci` has installed, instead of downloaded. A
 * built page is copied from it; the build keeps it only if the image has the same sources.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './tools.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const DOCKERFILE = readFileSync(join(ROOT, 'deploy', 'Dockerfile'), 'utf8').replace(/\\\n\s*/g, '');
/** Steps of the system, which has the tools and folders already. */
const OF_THE_SYSTEM = /^(apt-get|npm ci|mkdir) /;
/** State of npm and of scripts/run.mjs. A linked file would be changed in this checkout too. */
const OWN_FILES = ['.package-lock.json', '.installed-lock'];
const PAGE = 'app/dashboard/dist';

/** If a file is sent to the builder, by BuildKit's rules: the last pattern that matches it or a folder above decides. */
export function isSent(): (path: string) => boolean {
  const text = readFileSync(join(ROOT, 'deploy', 'Dockerfile.dockerignore'), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const rules = lines.map((line) => {
    const parts = line.replace(/^!/, '').split(/(\*\*\/|\*\*|\*)/);
    const kinds: Record<string, string> = { '**/': '(.*/)?', '**': '.*', '*': '[^/]*' };
    const pattern = parts.map((part) => kinds[part] ?? part.replace(/[.+?^$()[\]{}|\\]/g, '\\$&')).join('');
    return { isSent: line.startsWith('!'), pattern: new RegExp(`^${pattern}(/.*)?$`) };
  });
  return (path) => rules.findLast(({ pattern }) => pattern.test(path))?.isSent ?? true;
}

/** The words of an instruction that has them as JSON, such as CMD. */
function wordsOf(instruction: string): string[] {
  const [, words] = new RegExp(`^${instruction}.*?(\\[.*\\])$`, 'm').exec(DOCKERFILE) ?? [];
  if (words === undefined) throw new Error(`deploy/Dockerfile has no ${instruction}`);
  return JSON.parse(words);
}

/** The files of this checkout that git has or would take. */
export const filesOfGit = (): string[] =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(ROOT, path)));

export interface Image {
  /** What a container runs, and how it is asked if it works. */
  command: string[];
  healthCheck: string[];
  /** For `spawn`: the folder, the image's own variables, and its user, if this process may choose one. */
  place: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number };
}

/** Lays out the image in an empty folder, which its user can read. Its temporary files are in the folder too. */
export async function layOutImage(folder: string): Promise<Image> {
  const [cwd, temporary] = [join(folder, 'image'), join(folder, 'tmp')];
  mkdirSync(cwd, { recursive: true });
  mkdirSync(temporary);
  chmodSync(temporary, 0o1777);
  for (const path of filesOfGit().filter(isSent())) cpSync(join(ROOT, path), join(cwd, path));
  if (existsSync(join(ROOT, PAGE))) cpSync(join(ROOT, PAGE), join(cwd, PAGE), { recursive: true });
  const place: Image['place'] = { cwd, env: { TMPDIR: temporary } };
  const must = async (step: string): Promise<void> => {
    const { code, output } = await run('sh', ['-ec', step], { ...place, env: { ...process.env, ...place.env } });
    if (code !== 0) throw new Error(`${step}: ${output}`);
  };
  const installed = join(ROOT, 'node_modules');
  await must(`cp -al '${installed}' . 2>/dev/null || { rm -rf node_modules && cp -a '${installed}' .; }`);
  for (const name of OWN_FILES) rmSync(join(cwd, 'node_modules', name), { force: true });
  copyFileSync(join(installed, OWN_FILES[0]!), join(cwd, 'node_modules', OWN_FILES[0]!));
  for (const [, instruction, text] of DOCKERFILE.matchAll(/^(RUN|USER|ENV) (.+)$/gm)) {
    if (instruction === 'RUN' && !OF_THE_SYSTEM.test(text!)) await must(text!);
    if (instruction === 'ENV') for (const [, name, value] of text!.matchAll(/(\w+)=(\S+)/g)) place.env[name!] = value;
    if (instruction === 'USER') Object.assign(place, identityOf(text!));
  }
  return { command: wordsOf('CMD'), healthCheck: wordsOf('HEALTHCHECK'), place };
}

/** The user of a container; the present one if this process cannot run Node as another. */
function identityOf(user: string): { uid?: number; gid?: number } {
  const [uid = 0, gid = 0] = user.split(':').map(Number);
  if (!(uid > 0 && gid > 0)) throw new Error(`USER ${user} is not a user and a group, both by number and not root`);
  return spawnSync(process.execPath, ['--version'], { uid, gid }).status === 0 ? { uid, gid } : {};
}
