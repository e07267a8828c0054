export interface PauseRange {
  readonly minMs: number;
  readonly maxMs: number;
}

export const DEFAULT_PAUSES: PauseRange = { minMs: 500, maxMs: 2_000 };

/** Pauses as people make them between two actions: mostly short, now and then long, always within the range. */
export function humanPauses(random: () => number, range: PauseRange = DEFAULT_PAUSES): () => number {
  const minMs = Math.max(0, Math.min(range.minMs, range.maxMs));
  const maxMs = Math.max(minMs, range.minMs, range.maxMs);
  return () => {
    // The lower of two draws is short twice as often as it is long.
    const drawn = Math.min(random(), random());
    return Math.min(maxMs, Math.max(minMs, Math.round(minMs + drawn * (maxMs - minMs))));
  };
}
