import type { Identity, OtherBrowser } from '../../../core/model/identity.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';

/** Browser identities by the name of the session or job that uses them. */
export interface Identities {
  /** A seed, region and browser give one identity, as long as the Chromium stays the same. Chrome by default. */
  of(seed: string, region: string | null, family?: OtherBrowser): Promise<Identity>;
}

const MOST_KEPT = 1_000;
/** A recent Chromium in wide use, for processes that have no browser whose version the identity must match. */
const USUAL_VERSION = '147.0.7727.0';

/** The tables that identities are drawn from take long to load, so the first identity loads them. */
export function createIdentities(browserVersion: () => string | null): Identities {
  const kept = new BoundedMap<string, Promise<Identity>>(MOST_KEPT);
  return {
    of(seed, region, family) {
      const version = browserVersion() ?? USUAL_VERSION;
      const key = JSON.stringify([seed, region, version, family]);
      return kept.getOrCreate(key, () => {
        const drawn = draw(seed, region, version, family);
        drawn.catch(() => kept.delete(key));
        return drawn;
      });
    },
  };
}

async function draw(
  seed: string,
  region: string | null,
  browserVersion: string,
  family: OtherBrowser | undefined,
): Promise<Identity> {
  const { asBrowser, createIdentity, seededRandom } = await import('./identity.ts');
  const drawn = createIdentity({
    region,
    browserVersion,
    random: seededRandom(seed),
    ...(family === 'safari' ? { system: 'macos' as const } : {}),
  });
  return family === undefined ? drawn : asBrowser(drawn, family);
}
