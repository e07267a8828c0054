import type { ByteRange } from '../../core/ports/blobs.ts';

/**
 * The part of a file that a `Range` header asks for. `whole`: there is no header, or one that a server may pass over, such
 * as one of several ranges. `beyond`: the file has no such part.
 */
export function rangeOf(header: string | undefined, sizeBytes: number): ByteRange | 'whole' | 'beyond' {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const suffix = Math.min(Number(last), sizeBytes);
    return suffix === 0 ? 'beyond' : { start: sizeBytes - suffix, end: sizeBytes };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= sizeBytes) return 'beyond';
  return { start, end: last === '' ? sizeBytes : Math.min(Number(last) + 1, sizeBytes) };
}

/** Whether a header such as `If-None-Match` names the entity tag. */
export function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === etag);
}
