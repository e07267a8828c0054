import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBrowser } from '../../src/fetch/browser/pool/find-browser.ts';
import { type ChildOptions, type ChildRun, numberOf, runChild } from '../child-run.ts';
import { type PageTexts, textsOfFolder, textsOfLines } from './page-texts.ts';
import { type TreeMemory, watchMemory } from './tree-memory.ts';

/** Pages shown at once, by everybody. */
export const CONCURRENCY = 4;
/** On a page when its script is done with it. */
const READY = '#page[data-ready="true"]';

export interface Shown extends Pick<ChildRun, 'wallSeconds'> {
  readonly pages: number;
  readonly errors: number;
  /** As the crawler itself measured it, without the start of its process. */
  readonly seconds: number;
  /** Memory of the program and its browser with all its processes. */
  readonly peakTreeBytes: number;
  /** Texts of the stored pages; null for a contestant that stores none. */
  readonly texts: PageTexts | null;
}

export interface RenderContestant {
  readonly name: string;
  /** Shows everything from the URL on; the folder is its own and empty. */
  show(url: string, folder: string): Promise<Shown>;
}

const LAUNCHER = fileURLToPath(new URL('../../scrapifie', import.meta.url));
const CEILING = fileURLToPath(new URL('./ceiling.mjs', import.meta.url));
const CRAWLEE = fileURLToPath(new URL('./crawlee.mjs', import.meta.url));
const CRAWLEE_PACKAGE = fileURLToPath(new URL('../node_modules/@crawlee/playwright', import.meta.url));

async function watched(
  command: string,
  args: readonly string[],
  options: ChildOptions = {},
): Promise<{ run: ChildRun; peakTreeBytes: number }> {
  let memory: TreeMemory | undefined;
  try {
    const run = await runChild(command, args, {
      ...options,
      onStart: (pid) => {
        memory = watchMemory(pid);
      },
    });
    return { run, peakTreeBytes: (await memory?.stop()) ?? Number.NaN };
  } catch (error) {
    await memory?.stop();
    throw error;
  }
}

/** As a person would run it: the command line, a folder for the results, everything stored durably. */
const scrapifieWith =
  (name: string, env: Readonly<Record<string, string>>) =>
  (browser: string): RenderContestant => ({
    name,
    async show(url, folder) {
      const args = ['crawl', url, '--out', folder, '--engine', 'browser', '--wait-for', READY];
      const pace = ['--rate', 'unlimited', '--concurrency', String(CONCURRENCY)];
      const more = ['--sitemap', 'skip', '--format', 'html,metadata,links', '--allow-private', '--json'];
      const { run, peakTreeBytes } = await watched(LAUNCHER, [...args, ...pace, ...more], {
        env: { SCRAPIFIE_LOG_LEVEL: 'warn', SCRAPIFIE_BROWSER_PATH: browser, ...env },
        cwd: folder,
      });
      return {
        pages: numberOf(run.answer, 'pages'),
        errors: numberOf(run.answer, 'failed'),
        seconds: numberOf(run.answer, 'durationMs') / 1_000,
        wallSeconds: run.wallSeconds,
        peakTreeBytes,
        texts: textsOfLines(join(folder, 'pages.ndjson')),
      };
    },
  });

const scrapifie = scrapifieWith('Scrapifie', {});
/** What the isolation of sites costs. */
const isolated = scrapifieWith('Scrapifie, sites isolated', { SCRAPIFIE_BROWSER_ISOLATION: 'site' });

const asAnswered = ({ answer, wallSeconds }: ChildRun, peakTreeBytes: number): Omit<Shown, 'texts'> => ({
  pages: numberOf(answer, 'pages'),
  errors: numberOf(answer, 'errors'),
  seconds: numberOf(answer, 'seconds'),
  wallSeconds,
  peakTreeBytes,
});

const crawlee = (browser: string): RenderContestant => ({
  name: 'Crawlee',
  async show(url, folder) {
    const args = [CRAWLEE, url, folder, String(CONCURRENCY), browser, READY];
    const { run, peakTreeBytes } = await watched(process.execPath, args);
    return { ...asAnswered(run, peakTreeBytes), texts: textsOfFolder(join(folder, 'datasets', 'default')) };
  },
});

const ceiling = (browser: string): RenderContestant => ({
  name: 'bare ceiling',
  async show(url) {
    const args = [CEILING, url, String(CONCURRENCY), browser, READY];
    const { run, peakTreeBytes } = await watched(process.execPath, args);
    return { ...asAnswered(run, peakTreeBytes), texts: null };
  },
});

/** All on the browser that the product itself would find. Throws when there is none or the peers are not installed. */
export async function renderContestants(): Promise<readonly RenderContestant[]> {
  const found = await findBrowser({ executable: null, env: process.env });
  if (found === null) throw new Error('no Chromium was found; `scrapifie doctor` says how to get one');
  if (!existsSync(CRAWLEE_PACKAGE)) throw new Error('Crawlee is not installed: `npm ci --prefix bench`');
  return [scrapifie, isolated, crawlee, ceiling].map((make) => make(found.path));
}

export async function showIn(scratch: string, contestant: RenderContestant, url: string): Promise<Shown> {
  const folder = join(scratch, 'render');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    return await contestant.show(url, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
