import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import type { Extraction } from '../capabilities/jobs/extraction.ts';
import { extractRequestSchema, readOptionsOf } from '../capabilities/jobs/request/extraction-request.ts';
import { parseRequest } from '../capabilities/jobs/request/invalid-request.ts';
import { mapRequestSchema, scrapeRequestSchema } from '../capabilities/jobs/request/job-request.ts';
import type { ScrapeResult } from '../capabilities/jobs/results/job-reader.ts';
import type { MapResult } from '../capabilities/jobs/results/map-result.ts';
import type { PageResult } from '../capabilities/jobs/results/page-result.ts';
import { explainWait, makeTemporaryFolder, OPERATOR, openOneOff } from '../cli/folders/one-off.ts';
import { ignoredText, loadSettings, type SettingOverrides } from '../core/config/load.ts';
import type { IgnoredSettings } from '../core/config/setting-sources.ts';
import type { Settings } from '../core/config/settings.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import { defined } from '../lib/defined.ts';
import { OPENERS } from '../wiring/shell.ts';
import { type Crawl, type CrawlOptions, type CrawlPlace, createCrawl } from './crawl.ts';

/** What Scrapifie is opened with. */
export interface ScrapifieOptions {
  /**
   * Folder for everything that is stored. It stays, and a crawl in it can go on; one process at a time may use it. Left out:
   * a temporary folder, which is removed at the end.
   */
  readonly dataDir?: string | URL;
  /** Settings of docs/configuration.md by their names without `SCRAPIFIE_`, as in `allowPrivate`. They win over the environment and `.env`. */
  readonly settings?: Omit<
    SettingOverrides,
    'dataDir' | 'plugins' | 'role' | 'databaseUrl' | 'redisUrl' | 's3Url'
  >;
  /** Modules of plug-ins (docs/plugins.md), in place of those that the environment names. */
  readonly plugins?: readonly (string | URL)[];
}

/** The settings of a library: `settings`, else the environment, else a trusted `.env`. Throws INVALID_SETTINGS. */
export function librarySettings(
  { plugins, settings = {} }: ScrapifieOptions,
  overrides: SettingOverrides = {},
): Settings {
  return loadSettings(process.env, {
    cwd: process.cwd(),
    overrides: { ...settings, ...(plugins && { plugins: plugins.map(pathOf).join(',') }), ...overrides },
    overridesFrom: 'code',
    onIgnored: warnOnce,
  });
}

let hasWarned = false;

/** By the way of Node.js, so that a program decides where it goes. */
function warnOnce(ignored: IgnoredSettings): void {
  if (!hasWarned)
    process.emitWarning(`Settings are ignored: ${ignoredText(ignored)}.`, { code: 'SCRAPIFIE_TRUST' });
  hasWarned = true;
}

interface Cancellable {
  /** Ends the call with CANCELLED. */
  readonly signal?: AbortSignal;
}

/** The request of `POST /v1/scrape`. */
export type ScrapeOptions = Omit<z.input<typeof scrapeRequestSchema>, 'url' | 'async' | 'webhook'> &
  Cancellable;
/** The request of `POST /v1/map`. */
export type MapOptions = Omit<z.input<typeof mapRequestSchema>, 'url' | 'async'> & Cancellable;
/** The request of `POST /v1/extract`, besides the page. */
export type ExtractOptions = Omit<z.input<typeof extractRequestSchema>, 'url' | 'html' | 'contentType'>;

/** A page that the caller has. */
export interface PageInput {
  /** Text, or the bytes of any document that Scrapifie reads. */
  readonly html: string | Uint8Array;
  /** Where it is from: what its links are relative to. Nothing is fetched. */
  readonly url: string;
  /** Left out: `text/html` for a text, else told from the bytes. */
  readonly contentType?: string;
}

/** A whole Scrapifie in this process. Every error of its methods is a ScrapifieError with a code. */
export interface Scrapifie extends AsyncDisposable {
  /** Fetches one page and returns its result. */
  scrape(url: string, options?: ScrapeOptions): Promise<ScrapeResult>;
  /** Crawls a site, or several. It begins with the loop over the result. */
  crawl<Extracted = Readonly<Record<string, unknown>>>(
    urls: string | readonly string[],
    options?: CrawlOptions<Extracted>,
  ): Crawl<Extracted>;
  /** Lists the URLs of a site. */
  map(url: string, options?: MapOptions): Promise<MapResult>;
  /** Reads a page that is there already. */
  extract(page: PageInput, options?: ExtractOptions): Promise<PageResult>;
  /** Stops crawls, closes everything, and removes a temporary folder. Loops under way end with SHUTTING_DOWN. */
  close(): Promise<void>;
}

/** Opens Scrapifie for several calls. The functions of the same names open it for one. */
export async function openScrapifie(options: ScrapifieOptions = {}): Promise<Scrapifie> {
  return (await openWithPlace(options)).scrapifie;
}

/** Opens Scrapifie with the place for a crawl outside of it. */
export async function openWithPlace(
  options: ScrapifieOptions,
): Promise<{ readonly scrapifie: Scrapifie; readonly place: CrawlPlace }> {
  const { platform, dataDir, remove } = await openPlace(options);
  const closing = new AbortController();
  let closed: Promise<void> | null = null;
  const account = platform.store.defaultAccount();

  function requireOpen(): void {
    if (closed !== null) throw new ScrapifieError('SHUTTING_DOWN', 'Scrapifie was closed.');
  }

  const place: CrawlPlace = {
    platform,
    dataDir,
    closing: closing.signal,
    release: async () => undefined,
  };

  async function close(): Promise<void> {
    closing.abort();
    await platform.close();
    await remove();
  }

  const scrapifie: Scrapifie = {
    async scrape(url, { signal, ...fields } = {}) {
      requireOpen();
      const request = parseRequest(scrapeRequestSchema, { inline: true, ...fields, url });
      const given = { operator: OPERATOR, ...defined({ signal }) };
      return explained(request.timeoutMs, platform.jobs.scrapeNow(request, await account, given));
    },
    crawl: (urls, crawlOptions = {}) =>
      createCrawl(urls, crawlOptions, async () => {
        requireOpen();
        return place;
      }),
    async map(url, { signal, ...fields } = {}) {
      requireOpen();
      const request = parseRequest(mapRequestSchema, { ...fields, url });
      const given = { operator: OPERATOR, ...defined({ signal }) };
      return explained(request.timeoutMs, platform.jobs.mapNow(request, await account, given));
    },
    async extract(page, fields = {}) {
      requireOpen();
      return readGiven(platform.capabilities.extraction, page, fields);
    },
    close() {
      closed ??= close();
      return closed;
    },
    [Symbol.asyncDispose]: () => scrapifie.close(),
  };
  return { scrapifie, place };
}

async function openPlace(options: ScrapifieOptions) {
  const { dataDir: named, settings: { drainMs = 0 } = {} } = options;
  const isTemporary = named === undefined;
  const dataDir = isTemporary ? await makeTemporaryFolder(OPENERS) : pathOf(named);
  const remove = async (): Promise<void> => {
    if (isTemporary) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    // What is under way in a temporary folder is lost with it, so nothing is gained by waiting for it.
    const settings = librarySettings(options, { dataDir, ...(isTemporary ? { drainMs } : {}) });
    const platform = await openOneOff(OPENERS, settings, 'fatal');
    try {
      await platform.start();
      return { platform, dataDir: isTemporary ? null : settings.dataDir, remove };
    } catch (error) {
      await platform.close();
      throw error;
    }
  } catch (error) {
    await remove();
    throw error;
  }
}

const pathOf = (place: string | URL): string => (place instanceof URL ? fileURLToPath(place) : place);

async function explained<T>(timeoutMs: number, working: Promise<T>): Promise<T> {
  try {
    return await working;
  } catch (error) {
    throw explainWait(error, timeoutMs, '`timeoutMs`');
  }
}

/** Reads a page of the caller's by an extraction that the caller of this function closes. */
export async function readGiven(
  extraction: Extraction,
  { html, url, contentType }: PageInput,
  fields: ExtractOptions,
): Promise<PageResult> {
  const isText = typeof html === 'string';
  const type = contentType ?? (isText ? 'text/html' : null);
  // The schema is that of the API, whose pages are text.
  const request = parseRequest(extractRequestSchema, { ...fields, url, html: isText ? html : '' });
  const body = isText ? Buffer.from(html) : html;
  return extraction.read({ url, body, contentType: type }, readOptionsOf(request));
}
