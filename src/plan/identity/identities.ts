import { BoundedMap } from '../../model/bounded-map.ts';
import type { Identity } from '../../model/identity.ts';

/** Browser identities by the name of the session or job that uses them. */
export interface Identities {
  /** The same for the same seed and region, as long as the browser stays the same. */
  of(seed: string, region: string | null): Promise<Identity>;
}

const MOST_KEPT = 1_000;
/** A recent Chromium in wide use, for processes that have no browser whose version the identity must match. */
const USUAL_VERSION = '147.0.7727.0';

/** The tables that identities are drawn from take long to load, so the first identity loads them. */
export function createIdentities(browserVersion: () => string | null): Identities {
  const kept = new BoundedMap<string, Promise<Identity>>(MOST_KEPT);
  return {
    of(seed, region) {
      const version = browserVersion() ?? USUAL_VERSION;
      const key = JSON.stringify([seed, region, version]);
      return kept.getOrCreate(key, () => {
        const drawn = draw(seed, region, version);
        drawn.catch(() => kept.delete(key));
        return drawn;
      });
    },
  };
}

async function draw(seed: string, region: string | null, browserVersion: string): Promise<Identity> {
  const [{ createIdentity }, { seededRandom }] = await Promise.all([
    import('./identity.ts'),
    import('./seeded-random.ts'),
  ]);
  return createIdentity({ region, browserVersion, random: seededRandom(seed) });
}
