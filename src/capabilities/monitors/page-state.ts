import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { PageState } from '../../core/model/monitor.ts';
import { EMPTY_STATE } from './decide-change.ts';

/** What a monitor remembers of a page, as it is stored: JSON in a zstd frame. */
const MOST_BYTES = 67_108_864;

export const packPageState = (state: PageState): Uint8Array =>
  new Uint8Array(zstdCompressSync(Buffer.from(JSON.stringify(state))));

/** States of earlier versions get what they lack. */
export const unpackPageState = (packed: Uint8Array): PageState => ({
  ...EMPTY_STATE,
  ...(JSON.parse(zstdDecompressSync(packed, { maxOutputLength: MOST_BYTES }).toString('utf8')) as PageState),
});
