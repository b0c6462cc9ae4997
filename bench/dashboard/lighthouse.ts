/**
 * Runs Lighthouse on one address. Lighthouse has its own browser driver and a hundred packages, so it is no dependency
 * of the project. The bench installs a fixed version below `.local/`.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BROWSER_ARGUMENTS, CHROMIUM } from '../../tests/dashboard/browser.ts';

/** The newest version that runs on Node 20. */
const VERSION = '12.8.2';
const FOLDER = join(import.meta.dirname, '..', '..', '.local', 'tools', 'lighthouse');
const PACKAGE = join(FOLDER, 'node_modules', 'lighthouse');

export const CATEGORIES = ['performance', 'accessibility', 'best-practices'] as const;
export type Category = (typeof CATEGORIES)[number];

/** The simulated device: `mobile` has a slow processor and 1.6 Mbit/s. */
export type Device = 'desktop' | 'mobile';

export interface Scores {
  /** Each from 0 to 100. */
  scores: Record<Category, number>;
  /** Audits that lost points, each with its findings. */
  lost: string[];
}

interface Report {
  runtimeError?: { message: string };
  categories: Record<Category, { score: number | null; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<string, { title: string; score: number | null; displayValue?: string }>;
}

/** An audit with a lower score is reported. */
const FULL = 0.9;

export function installLighthouse(report: (line: string) => void): void {
  const manifest = join(PACKAGE, 'package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === VERSION) return;
  report(`installing Lighthouse ${VERSION} into .local/tools/lighthouse`);
  execFileSync('npm', ['install', '--prefix', FOLDER, '--no-audit', '--no-fund', `lighthouse@${VERSION}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Writes its files to `folder`. `cookie` signs the visitor in; null for nobody. */
export async function runLighthouse(
  url: string,
  { device, cookie, folder }: { device: Device; cookie: string | null; folder: string },
): Promise<Scores> {
  const [output, headers] = [join(folder, 'report.json'), join(folder, 'headers.json')];
  // In a file, because other users of the machine can read the arguments of a process.
  writeFileSync(headers, JSON.stringify(cookie === null ? {} : { Cookie: cookie }), { mode: 0o600 });
  await promisify(execFile)(
    process.execPath,
    [
      join(PACKAGE, 'cli', 'index.js'),
      url,
      '--quiet',
      '--no-enable-error-reporting',
      '--output=json',
      `--output-path=${output}`,
      `--only-categories=${CATEGORIES.join(',')}`,
      `--extra-headers=${headers}`,
      `--chrome-flags=--headless=new ${BROWSER_ARGUMENTS.join(' ')}`,
      ...(device === 'desktop' ? ['--preset=desktop'] : []),
    ],
    { env: { ...process.env, CHROME_PATH: CHROMIUM } },
  );
  return read(JSON.parse(readFileSync(output, 'utf8')) as Report, url);
}

function read({ runtimeError, categories, audits }: Report, url: string): Scores {
  if (runtimeError) throw new Error(`Lighthouse could not measure ${url}: ${runtimeError.message}`);
  const scoreOf = (category: Category) => {
    const { score } = categories[category];
    if (score === null) throw new Error(`Lighthouse gave ${url} no score for ${category}`);
    return Math.round(score * 100);
  };
  const lost = CATEGORIES.flatMap((category) => categories[category].auditRefs)
    .filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < FULL)
    .map(({ id }) => [audits[id]!.title, audits[id]!.displayValue].filter(Boolean).join(': '));
  return {
    scores: Object.fromEntries(CATEGORIES.map((category) => [category, scoreOf(category)])) as Scores['scores'],
    lost: [...new Set(lost)],
  };
}
