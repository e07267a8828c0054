import type { Identity } from '../../model/identity.ts';

/** Who to be, by the name of whoever wants to be somebody. */
export interface Identities {
  /** The same for the same seed and region, as long as the browser stays the same. */
  of(seed: string, region: string | null): Promise<Identity>;
}

const MOST_KEPT = 1_000;
/** Where no browser is at hand to be like: one that most people had lately. */
const USUAL_VERSION = '147.0.7727.0';

/** The tables that identities are drawn from take a while to load, so they are loaded for the first one. */
export function createIdentities(browserVersion: () => string | null): Identities {
  /** The longest unused first. */
  const kept = new Map<string, Promise<Identity>>();
  return {
    of(seed, region) {
      const version = browserVersion() ?? USUAL_VERSION;
      const key = JSON.stringify([seed, region, version]);
      const known = kept.get(key) ?? draw(seed, region, version);
      kept.delete(key);
      const [oldest] = kept.keys();
      if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      kept.set(key, known);
      known.catch(() => kept.delete(key));
      return known;
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
