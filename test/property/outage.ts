/** `away`: every call fails at once. `silent`: no call is answered before the outage is over. */
export type OutageKind = 'away' | 'silent';

/** Takes a part away from the callers that use it through `wrap`, and brings it back. */
export interface Outage {
  begin(kind: OutageKind): void;
  end(): void;
  /** The same part, but calls meet with the outage. Calls that failed did not happen. */
  wrap<T extends object>(part: T): T;
}

type Method = (...values: unknown[]) => Promise<unknown>;

export function createOutage(error: () => Error): Outage {
  let kind: OutageKind | null = null;
  let over = Promise.withResolvers<void>();

  async function call(begin: () => Promise<unknown>): Promise<unknown> {
    if (kind === 'silent') await over.promise;
    if (kind === 'away') throw error();
    return begin();
  }

  return {
    begin(now) {
      kind = now;
    },
    end() {
      kind = null;
      over.resolve();
      over = Promise.withResolvers<void>();
    },
    wrap: (part) =>
      Object.fromEntries(
        (Object.entries(part) as [string, Method][]).map(([name, method]) => [
          name,
          name === 'close' ? method : (...values: unknown[]) => call(() => method(...values)),
        ]),
      ) as typeof part,
  };
}
