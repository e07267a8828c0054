import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { listenFirecrawl } from '../../src/http/compat/firecrawl/firecrawl-api.ts';
import { type ApiWorld, openApiWorld } from '../integration/api-world.ts';
import type { WorldOptions } from '../integration/world.ts';
import { type SmallSite, startSmallSite } from './small-site.ts';

/** What the clients answer, as far as tests look at it. */
// biome-ignore lint/suspicious/noExplicitAny: the clients are installed by themselves, and their types with them
type Loose = any;

/** A server with a port of its own for this API, and a small site beside it. */
export interface FirecrawlWorld extends ApiWorld {
  readonly small: SmallSite;
  /** Where v1 and v2 are at the root. */
  readonly origin: string;
  /** Where they are below `/firecrawl`. */
  readonly mainOrigin: string;
}

/** `open`: with `openBrowserWorld` for pages that a browser shows. */
export async function openFirecrawlWorld(
  options: WorldOptions = {},
  open = openApiWorld,
): Promise<FirecrawlWorld> {
  const small = await startSmallSite();
  const world = await open({ site: { pages: 10 }, ...options });
  await world.api.listen({ port: 0, host: '127.0.0.1' });
  const settings = { ...world.platform.settings, firecrawlPort: 0 };
  const listener = await listenFirecrawl(world.api, settings, world.metrics);
  return {
    ...world,
    small,
    origin: `http://127.0.0.1:${listener?.port}`,
    mainOrigin: `http://127.0.0.1:${(world.api.server.address() as AddressInfo).port}`,
    async close() {
      await listener?.close(1_000);
      await world.close();
      await small.close();
    },
  };
}

const load = createRequire(import.meta.url);

/** The client for v2 of this package, unmodified; `v1` is its client for v1. */
export function clientOf(apiUrl: string, apiKey: string): Loose {
  const { default: Firecrawl } = load('@mendable/firecrawl-js');
  return new Firecrawl({ apiUrl, apiKey });
}
