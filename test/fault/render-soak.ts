import { existsSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import { createBrowserEngine, type RenderEngine } from '../../src/fetch/browser/browser-engine.ts';
import { type BrowserRuntime, createBrowserRuntime } from '../../src/fetch/browser/browser-runtime.ts';
import { findBrowser } from '../../src/fetch/browser/pool/find-browser.ts';
import { treeBytes } from '../../src/fetch/browser/pool/process-tree.ts';
import { titleOf } from '../site/prose.ts';
import { randomFrom } from '../site/random.ts';
import { type Site, startSite } from '../site/site.ts';
import { isRenderer, type Prey, ProcessHunt } from './process-hunt.ts';

export interface SoakOptions {
  readonly pages: number;
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface SoakReport {
  /** Pages that came as they should. */
  readonly shown: number;
  /** Typed errors by their code. */
  readonly errors: Readonly<Record<string, number>>;
  readonly kills: Readonly<Record<Prey, number>>;
  readonly launched: number;
  /** Where memory stood along the way, from the first tenth to the last. */
  readonly memory: readonly MemoryMark[];
  /** Everything that should not have been, in words. */
  readonly problems: readonly string[];
}

export interface MemoryMark {
  readonly pages: number;
  /** Heap of this program, after a collection of garbage. */
  readonly heapBytes: number;
  /** Memory of the browsers with all their processes. */
  readonly browserBytes: number;
}

/** What a page must show, so that no page is answered with another. */
interface Visit {
  readonly path: string;
  readonly shows: string;
  readonly isReady?: string;
}

const PAGES_AT_ONCE = 4;
const ACCOUNTS = 5;
const CATALOGUE = 500;
const MARKS = 10;
/** One page in so many ends its own process. */
const CRASHING = 50;
/** A process is killed after so many pages, more or less. */
const PAGES_PER_KILL = 8;
const BROWSER_SHARE = 0.25;
const TIMEOUT_MS = 30_000;
const SETTLE_MS = 20_000;

/** Shows pages of several accounts while renderers and browsers are killed, and looks at what is left. */
export async function soak({ pages, seed, say = () => {} }: SoakOptions): Promise<SoakReport> {
  const found = await findBrowser({ executable: null, env: process.env });
  if (found === null) throw new Error('No browser is installed.');
  const site = await startSite({ log: 'off', pages: CATALOGUE });
  const runtime = createBrowserRuntime({
    executablePath: found.path,
    allowPrivate: true,
    pagesPerBrowser: 200,
  });
  const engine = createBrowserEngine({ runtime, userAgent: 'SoakBot/1' });
  const run = new Soak(site, runtime, engine, seed);
  try {
    await run.showAll(pages, say);
    await run.lookForLeaks();
  } finally {
    await engine.close();
    await site.close();
  }
  await run.lookForLeftovers();
  return run.report();
}

class Soak {
  private readonly site: Site;
  private readonly runtime: BrowserRuntime;
  private readonly engine: RenderEngine;
  private readonly random: () => number;
  private readonly hunt: ProcessHunt;
  private readonly problems: string[] = [];
  private readonly errors: Record<string, number> = {};
  private readonly memory: MemoryMark[] = [];
  private readonly collect: () => void;
  private shown = 0;
  private launched = 0;

  constructor(site: Site, runtime: BrowserRuntime, engine: RenderEngine, seed: number) {
    this.site = site;
    this.runtime = runtime;
    this.engine = engine;
    this.random = randomFrom(seed);
    this.hunt = new ProcessHunt(() => runtime.running?.pool.pids ?? [], this.random);
    setFlagsFromString('--expose_gc');
    this.collect = runInNewContext('gc') as () => void;
  }

  async showAll(pages: number, say: (line: string) => void): Promise<void> {
    let next = 0;
    let ended = 0;
    let killAt = PAGES_PER_KILL;
    const work = async (): Promise<void> => {
      while (next < pages) {
        const at = next++;
        await this.show(at, this.visitFor(at));
        ended += 1;
        const done = ended;
        if (done % Math.ceil(pages / MARKS) === 0) {
          await this.mark(done);
          const counts = [this.errors, this.hunt.kills].map((each) => JSON.stringify(each));
          say(`${done} pages: ${this.shown} shown, ${counts.join(', killed ')}`);
        }
        if (done < killAt) continue;
        killAt = done + 1 + Math.floor(this.random() * PAGES_PER_KILL * 2);
        await this.hunt.kill(this.random() < BROWSER_SHARE ? 'browser' : 'renderer');
      }
    };
    await Promise.all(Array.from({ length: PAGES_AT_ONCE }, work));
  }

  private visitFor(at: number): Visit {
    if (at % CRASHING === CRASHING - 1) return { path: '/js/crash', shows: 'A page that ends its process' };
    const page = Math.floor(this.random() * CATALOGUE);
    if (at % 4 === 0) return { path: `/js/static/${page}`, shows: titleOf(page) };
    const isReady = '#page[data-ready="true"]';
    return { path: `/js/catalogue/${page}`, shows: `Catalogue: ${titleOf(page)}<`, isReady };
  }

  private async show(at: number, { path, shows, isReady }: Visit): Promise<void> {
    const late = setTimeout(() => this.problems.push(`${path} never ended`), TIMEOUT_MS * 3);
    try {
      const { body, failure } = await this.engine.render({
        url: this.site.url + path,
        method: 'GET',
        headers: {},
        cookies: {},
        body: null,
        timeoutMs: TIMEOUT_MS,
        maxBodyBytes: 4_000_000,
        maxRedirects: 5,
        conditional: null,
        onRedirect: async () => 'follow',
        key: `account-${at % ACCOUNTS}`,
        ...(isReady === undefined ? {} : { wait: { selector: isReady } }),
      });
      if (failure !== null) this.count(failure.code);
      else if (Buffer.from(body).includes(shows)) this.shown += 1;
      else this.problems.push(`${path} came without “${shows}”`);
    } catch (error) {
      if (isScrapifieError(error)) this.count(error.code);
      else this.problems.push(`${path} ended with ${String(error)}`);
    } finally {
      clearTimeout(late);
    }
  }

  private count(code: string): void {
    this.errors[code] = (this.errors[code] ?? 0) + 1;
  }

  private async mark(pages: number): Promise<void> {
    const sizes = await Promise.all((this.runtime.running?.pool.pids ?? []).map((pid) => treeBytes(pid)));
    this.collect();
    this.memory.push({
      pages,
      heapBytes: process.memoryUsage().heapUsed,
      browserBytes: sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0),
    });
  }

  /** While the browsers still run: what no page uses must not be kept as if one did. */
  async lookForLeaks(): Promise<void> {
    const { running } = this.runtime;
    if (running === null) return;
    const { pool, proxy } = running;
    const isQuiet = () => pool.stats.pagesInUse === 0 && pool.stats.waiting === 0;
    const isEven = () => proxy.admitted === pool.stats.contexts;
    await settled(() => isQuiet() && isEven());
    const { contexts, launched } = pool.stats;
    this.launched = launched;
    if (!isQuiet()) this.problems.push(`pages are still in use: ${JSON.stringify(pool.stats)}`);
    if (!isEven()) this.problems.push(`${proxy.admitted} contexts may go out, and there are ${contexts}`);
    const renderers = (await this.hunt.look()).filter(isRenderer).length;
    const most = contexts + PAGES_AT_ONCE;
    if (renderers > most) this.problems.push(`${renderers} renderers for ${contexts} contexts`);
  }

  /**
   * When all is closed, no process, living or dead, and no folder may be left. Orphans are waited for by the process
   * that adopts them.
   */
  async lookForLeftovers(): Promise<void> {
    await settled(() => this.hunt.left().length === 0);
    const left = this.hunt.left();
    if (left.length > 0) this.problems.push(`processes that are left: ${left.join(', ')}`);
    const folders = this.hunt.folders.filter((folder) => existsSync(folder));
    if (folders.length > 0) this.problems.push(`folders that are left: ${folders.join(', ')}`);
  }

  report(): SoakReport {
    const { shown, errors, memory, launched, problems } = this;
    return { shown, errors, kills: this.hunt.kills, launched, memory, problems };
  }
}

/** Waits for a condition, but not for ever. */
async function settled(isSo: () => boolean): Promise<void> {
  const until = performance.now() + SETTLE_MS;
  while (!isSo() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 50));
}
