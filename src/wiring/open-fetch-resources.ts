import type { Credentials } from '../capabilities/sessions/credentials.ts';
import type { Sessions } from '../capabilities/sessions/sessions.ts';
import { budgetFiles, openFileLimit } from '../core/config/open-files.ts';
import type { Settings } from '../core/config/settings.ts';
import { ENGINE_NAMES, type OwnEngineName } from '../core/model/attempt.ts';
import { isRendering } from '../core/model/engine-traits.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import type { StoredPageStore } from '../core/ports/job-store.ts';
import type { Queue } from '../core/ports/queue.ts';
import type { FetchResources } from '../crawl/host/process/fetch-resources.ts';
import { createStoredPages } from '../crawl/host/process/stored-pages.ts';
import { createIdentities } from '../crawl/plan/identity/identities.ts';
import type { Ability, Installation } from '../crawl/plan/ladder/fetch-methods.ts';
import type { ProxyPool } from '../crawl/plan/proxies/proxy-pool.ts';
import { budgetBytesFor, createByteBudget } from '../fetch/byte-budget.ts';
import type { Engine } from '../fetch/engine.ts';
import { createFirecrawlEngine } from '../fetch/firecrawl/firecrawl-engine.ts';
import { createFlareSolverrEngine } from '../fetch/flaresolverr/flaresolverr-engine.ts';
import { createWebEngine } from '../fetch/impersonate/impersonating-engine.ts';
import { proxyEndpointFromUrl } from '../fetch/proxy/checked-proxy.ts';
import { openReplayEngine } from '../fetch/replay/replay-engine.ts';
import { siteOwnerContact, userAgentFor } from '../fetch/user-agent.ts';
import { withholdSecrets, withOwnPages } from '../fetch/wrapped-engines.ts';
import { VERSION } from '../version.ts';
import type { Browsers } from './open-browsers.ts';
import { openPluginEngines, type PluginEngines } from './open-plugins.ts';
import { openProxies } from './open-proxies.ts';
import { openRenderers } from './open-renderers.ts';

/** The fetch resources of a process that crawls, which it closes at its end. */
export interface OpenFetchResources extends FetchResources {
  /** Plain HTTP, for requests besides pages. */
  readonly web: Engine;
  readonly proxies: ProxyPool | null;
  /** The browsers of this process; null when it has none. */
  readonly browsers: Browsers | null;
  /** Engines for which requests are accepted; browsers are assumed to exist until they were looked for. */
  offers(): Installation['engines'];
  close(): Promise<void>;
}

interface FetchResourcesParts {
  readonly settings: Settings;
  readonly store: StoredPageStore;
  readonly queue: Queue;
  readonly blobs: Blobs;
  readonly transit: Blobs | null;
  readonly sessions: Sessions;
  readonly credentials: Credentials;
  readonly pluginEngines: PluginEngines;
  readonly ownPages: () => readonly string[];
  readonly now: () => number;
  readonly logger: Logger;
}

/** Hosts to which connections are kept for a moment. */
const MOST_POOLS = 512;
const HTTP_ABILITIES: readonly Ability[] = ['messages', 'proxies', 'impersonation'];
const FIRECRAWL_ABILITIES: readonly Ability[] = ['javascript'];
const FLARESOLVERR_ABILITIES: readonly Ability[] = ['javascript', 'proxies'];
const RENDER_ABILITIES: readonly Ability[] = [
  'javascript',
  'waits',
  'messages',
  'screenshots',
  'actions',
  'pdf',
  'xhr',
  'proxies',
  'impersonation',
  'captcha',
];

/** A disguise has a screen and a place of its own. */
const abilitiesOf = (name: 'browser' | 'stealth'): readonly Ability[] =>
  name === 'browser' ? [...RENDER_ABILITIES, 'devices'] : RENDER_ABILITIES;

const ASSUMED: Installation['engines'] = (['browser', 'stealth'] as const).map((name) => ({
  name,
  abilities: abilitiesOf(name),
  isAnswering: true,
}));

function openFetchResources(parts: FetchResourcesParts): OpenFetchResources {
  const { settings, queue, blobs, transit, logger, now, ownPages } = parts;
  const { allowPrivate, flaresolverrUrl, firecrawlUrl, captchaKey, antiCaptchaKey } = settings;
  const userAgent = userAgentFor(VERSION, siteOwnerContact(settings));
  // Connections to sites that wait for another request count against the limit of open files as well.
  const { siteConnections: maxConnections } = budgetFiles(openFileLimit(), settings);
  const maxPools = Math.min(MOST_POOLS, Math.ceil(maxConnections / 2));
  const web = withOwnPages(
    withholdSecrets(createWebEngine({ userAgent, allowPrivate, maxPools, maxConnections })),
    {
      urls: ownPages,
      open: () => createWebEngine({ userAgent, allowPrivate: true }),
    },
  );
  const flaresolverr =
    flaresolverrUrl === undefined
      ? null
      : withholdSecrets(createFlareSolverrEngine({ url: flaresolverrUrl, allowPrivate }));
  const firecrawl =
    firecrawlUrl === undefined
      ? null
      : withholdSecrets(
          createFirecrawlEngine({ url: firecrawlUrl, key: settings.firecrawlKey, allowPrivate }),
        );
  const proxies = openProxies(settings, userAgent, now);
  const renderers = openRenderers({ settings, queue, blobs, transit, logger });
  const identities = createIdentities(() => renderers.browserVersion);
  const plugins = openPluginEngines(parts.pluginEngines, { web, userAgent, allowPrivate });
  const hasSolver = captchaKey !== undefined || antiCaptchaKey !== undefined;

  /** Made anew only when something has changed, because it is asked for with every page. */
  let known: Installation | null = null;
  let knownRevision = -1;
  const offersOf: Readonly<Record<OwnEngineName, () => Installation['engines']>> = {
    http: () => [{ name: 'http', abilities: HTTP_ABILITIES, isAnswering: true }],
    browser: () => renderOffer('browser'),
    flaresolverr: () =>
      flaresolverr === null
        ? []
        : [{ name: 'flaresolverr', abilities: FLARESOLVERR_ABILITIES, isAnswering: true }],
    stealth: () => renderOffer('stealth'),
    firecrawl: () =>
      firecrawl === null ? [] : [{ name: 'firecrawl', abilities: FIRECRAWL_ABILITIES, isAnswering: true }],
    // Where an archive is replayed there is no other engine: see open-fetch-resources.ts.
    replay: () => [],
  };
  const renderOffer = (name: 'browser' | 'stealth'): Installation['engines'] => {
    const state = renderers.stateOf(name);
    if (state === 'missing') return [];
    const isAnswering = state === 'answering';
    return [{ name, abilities: abilitiesOf(name), isAnswering, isExpected: renderers.wasSeen(name) }];
  };

  return {
    budget: createByteBudget(budgetBytesFor(settings.maxBytesInFlight)),
    web,
    proxies: proxies.pool,
    browsers: renderers.browsers,
    sessions: parts.sessions,
    credentials: parts.credentials,
    stored: createStoredPages({ store: parts.store, blobs, now }),
    installation() {
      if (known === null || knownRevision !== renderers.revision) {
        knownRevision = renderers.revision;
        known = {
          engines: [...ENGINE_NAMES.flatMap((name) => offersOf[name]()), ...plugins.offers],
          tiers: proxies.tiers,
          hasSolver,
        };
      }
      return known;
    },
    discover: renderers.discover,
    awayOf: (name) => (name === 'browser' || name === 'stealth' ? renderers.awayOf(name) : null),
    offers() {
      const { engines } = this.installation();
      return renderers.hasDiscovered
        ? engines
        : [...engines.filter(({ name }) => !isRendering(name)), ...ASSUMED];
    },
    engine(name, identity) {
      if (name === 'http') return web;
      if (name === 'flaresolverr' && flaresolverr !== null) return flaresolverr;
      if (name === 'firecrawl' && firecrawl !== null) return firecrawl;
      const ofPlugin = plugins.engines.get(name);
      if (ofPlugin !== undefined) return ofPlugin;
      // Only the disguised engine can have an identity; the trace records the requested engine.
      return renderers.engine(name === 'browser' && identity === 'bot' ? 'browser' : 'stealth');
    },
    ownProxy: (url) => proxyEndpointFromUrl(url),
    manner: {
      minPauseMs: settings.actionPauseMinMs,
      maxPauseMs: settings.actionPauseMaxMs,
      typing: settings.humanTyping,
      scrolling: settings.humanScrolling,
    },
    identity: identities.of,
    async close() {
      await Promise.all([
        web.close(),
        flaresolverr?.close(),
        firecrawl?.close(),
        plugins.close(),
        renderers.close(),
        proxies.close(),
      ]);
    },
  };
}

/** What an archive has of a page shows when it is replayed: nothing that a request may ask is refused before. */
const ABILITIES: readonly Ability[] = [
  'javascript',
  'waits',
  'messages',
  'screenshots',
  'actions',
  'pdf',
  'xhr',
  'devices',
];

/** The web, or the archive that the settings name in its place. */
export async function openResources(parts: FetchResourcesParts): Promise<OpenFetchResources> {
  const { replay } = parts.settings;
  return replay === undefined ? openFetchResources(parts) : openReplayResources(parts, replay);
}

/**
 * The fetch resources of an installation that answers everything from an archive. No engine, proxy or service that opens
 * connections is made. Throws BAD_ARCHIVE.
 */
async function openReplayResources(
  { settings, sessions, logger }: Pick<FetchResourcesParts, 'settings' | 'sessions' | 'logger'>,
  archive: string,
): Promise<OpenFetchResources> {
  const engine = await openReplayEngine(archive);
  for (const file of engine.index.truncated) {
    logger.warn({ file }, 'replay: the file ends within a record, which is left out');
  }
  const installation: Installation = {
    engines: [{ name: 'replay', abilities: ABILITIES, isAnswering: true }],
    tiers: [],
    hasSolver: false,
  };
  return {
    isReplay: true,
    budget: createByteBudget(budgetBytesFor(settings.maxBytesInFlight)),
    web: engine,
    proxies: null,
    browsers: null,
    sessions,
    // Nothing is logged in to, so no service is asked for credentials.
    credentials: { forSession: async () => null },
    installation: () => installation,
    offers: () => installation.engines,
    discover: async () => undefined,
    awayOf: () => null,
    engine: () => engine,
    ownProxy: (url) => proxyEndpointFromUrl(url),
    manner: {
      minPauseMs: settings.actionPauseMinMs,
      maxPauseMs: settings.actionPauseMaxMs,
      typing: settings.humanTyping,
      scrolling: settings.humanScrolling,
    },
    identity: createIdentities(() => null).of,
    close: () => engine.close(),
  };
}
