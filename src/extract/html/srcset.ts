const MOST_CANDIDATES = 64;
const MOST_CHARS = 65_536;

export interface SrcsetCandidate {
  readonly url: string;
  /** `2x`, `640w` or empty. */
  readonly descriptor: string;
}

/** Reads a `srcset` by its own grammar: commas inside a URL belong to it, commas at its end do not. */
export function srcsetCandidates(srcset: string): SrcsetCandidate[] {
  const candidates: SrcsetCandidate[] = [];
  if (srcset.length > MOST_CHARS) return candidates;
  const next = /[\s,]*(\S+)/y;
  while (candidates.length < MOST_CANDIDATES) {
    const raw = next.exec(srcset)?.[1];
    if (raw === undefined) break;
    let length = raw.length;
    while (length > 0 && raw.charCodeAt(length - 1) === 44) length--;
    let descriptor = '';
    if (length === raw.length) {
      const comma = srcset.indexOf(',', next.lastIndex);
      const end = comma < 0 ? srcset.length : comma;
      descriptor = srcset.slice(next.lastIndex, end).trim();
      next.lastIndex = end;
    }
    if (length > 0) candidates.push({ url: raw.slice(0, length), descriptor });
  }
  return candidates;
}
