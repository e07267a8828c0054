import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Entry } from '../../core/ports/queue.ts';
import { isRefusedCommand } from '../redis-link/redis-error.ts';
import type { RedisLink } from '../redis-link/redis-link.ts';
import { type KeyType, type KeyTypes, refuseWrongTypes } from '../redis-link/redis-script.ts';
import { BULL_KEY_TYPES, freshJobId, type JobQueue } from './bull-queue.ts';

/** Knows whether entries can be offered, by offering one and by how the offers of this process went. */
export interface OfferHealth {
  /** Runs an offer. One that Redis refuses is remembered, and rejects with the names of keys that are in the way. */
  watch(queue: JobQueue, entries: readonly Entry[], offer: () => Promise<void>): Promise<void>;
  /** Throws when a key of the queues has a wrong type, or a probe cannot be offered to `queue`. */
  check(queue: JobQueue, inUse: readonly JobQueue[], more: KeyTypes): Promise<void>;
  /** Why an offer of the last moments was refused; null when none was. */
  degradation(): string | null;
}

/** Hosts with work are offered again every few seconds, so an offer that is still refused is seen again by then. */
const REFUSAL_LASTS_MS = 15_000;
/** After all real work, and of a shape that consumers of every version pass over. */
const PROBE = { id: 'readiness-probe', rank: Number.MAX_SAFE_INTEGER };

export function createOfferHealth(link: RedisLink): OfferHealth {
  let refusal: { readonly reason: string; readonly at: number } | null = null;

  const typesOf = (queue: JobQueue): [string, KeyType][] =>
    BULL_KEY_TYPES.map(([part, type]) => [queue.key(part), type]);

  return {
    async watch(queue, entries, offer) {
      try {
        await offer();
      } catch (error) {
        if (!isRefusedCommand(error) || !isScrapifieError(error)) throw error;
        let told = error;
        const marks = entries.flatMap(({ id }): [string, KeyType][] => [
          [queue.key(`de:${id}`), 'string'],
          [queue.key(`dn:${id}`), 'hash'],
        ]);
        await refuseWrongTypes(link, new Map([...typesOf(queue), ...marks])).catch((named: unknown) => {
          if (isScrapifieError(named)) told = named;
        });
        refusal = { reason: told.message, at: performance.now() };
        throw told;
      }
    },
    async check(queue, inUse, more) {
      await refuseWrongTypes(link, new Map([...[queue, ...inUse].flatMap(typesOf), ...more]));
      const [id] = await queue.add([
        { id: freshJobId(PROBE.id), rank: PROBE.rank, data: { probe: true }, foldBy: PROBE.id },
      ]);
      // A probe that a consumer has taken already cannot be removed, and ends by itself.
      if (id !== undefined) await queue.run((bull) => bull.remove(id));
    },
    degradation() {
      if (refusal !== null && performance.now() - refusal.at > REFUSAL_LASTS_MS) refusal = null;
      return refusal?.reason ?? null;
    },
  };
}
