import { createIdentities } from '../crawl/plan/identity/identities.ts';
import type { Ability, Installation } from '../crawl/plan/ladder/possible-methods.ts';
import { budgetBytesFor, createByteBudget } from '../fetch/byte-budget.ts';
import { proxyEndpointFromUrl } from '../fetch/proxy/checked-proxy.ts';
import { openReplayEngine } from '../fetch/replay/replay-engine.ts';
import {
  type FetchResourcesParts,
  type OpenFetchResources,
  openFetchResources,
} from './open-fetch-resources.ts';

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
