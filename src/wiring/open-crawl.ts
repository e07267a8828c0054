import type { LoadedPlugins } from '../capabilities/plugins/load-plugins.ts';
import type { Vault } from '../capabilities/sessions/vault.ts';
import type { Policies } from '../crawl/policy/policies.ts';
import { type Crawler, createCrawler } from './crawler.ts';
import type { Accounts } from './open-accounts.ts';
import type { Browsers } from './open-browsers.ts';
import { type OpenFetchResources, openResources } from './open-fetch-resources.ts';
import type { Places } from './open-places.ts';
import { createRenderer, type Renderer } from './renderer.ts';
import type { ThisProcess } from './this-process.ts';

/** What fetches in a process, as far as its duties go: pages of the hosts that it owns, or renders for other owners. */
export interface OpenCrawl {
  readonly resources: OpenFetchResources | null;
  readonly crawler: Crawler | null;
  readonly renderer: Renderer | null;
  /** The browsers of this process, whichever of the two uses them. */
  readonly browsers: Browsers | null;
}

interface CrawlUses {
  readonly accounts: Accounts;
  /** Opens the secrets of jobs. */
  readonly vault: Vault | null;
  readonly policies: () => Policies;
  readonly plugins: LoadedPlugins;
  readonly ownPages: () => readonly string[];
}

export async function openCrawl(
  { owner, isShared, duties, clock, logger, metrics }: ThisProcess,
  { settings, store, queue, links, blobs, transit, room, now }: Places,
  { accounts: { sessions, credentials }, vault, policies, plugins, ownPages }: CrawlUses,
): Promise<OpenCrawl> {
  const resources = duties.crawl
    ? await openResources({
        ...{ settings, store, queue, blobs, transit, sessions, credentials, ownPages, now, logger },
        pluginEngines: plugins.engines,
      })
    : null;
  const crawler =
    resources === null
      ? null
      : createCrawler({
          ...{ settings, store, vault, queue, bus: links.bus, policies, owner, isShared, resources, now },
          ...{ clock, logger, metrics, onHold: room.noteHold },
        });
  const renderer =
    duties.render === null || transit === null
      ? null
      : createRenderer({ name: duties.render, settings, queue, blobs, transit, logger });
  const browsers = renderer?.browsers ?? resources?.browsers ?? null;
  browsers?.renders.onRendered(metrics.rendered);
  return { resources, crawler, renderer, browsers };
}
