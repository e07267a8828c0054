import { BoundedMap } from '../model/bounded-map.ts';

/** Where a body was first written. */
export interface PayloadPlace {
  readonly id: string;
  readonly url: string;
  readonly at: number;
}

/** The bodies that an archive has already, by digest: a repeated one becomes a reference. */
export interface KnownPayloads {
  get(digest: string): PayloadPlace | undefined;
  add(digest: string, place: PayloadPlace): void;
}

/** Beyond this the oldest are forgotten, and their bodies may be written again. */
const MOST_PAYLOADS = 50_000;

export function createKnownPayloads(): KnownPayloads {
  const places = new BoundedMap<string, PayloadPlace>(MOST_PAYLOADS);
  return { get: (digest) => places.get(digest), add: (digest, place) => void places.set(digest, place) };
}
