import type { ExtractOptions, PartOptions } from '../../core/model/extraction.ts';
import type { Format } from '../../core/model/job.ts';

const FULL_FORMATS: ReadonlySet<Format> = new Set(['text', 'markdown', 'content', 'structured']);

/** True when a request asks for formats or fields that the one pass over a page does not give. */
export function wantsFull(wanted: {
  readonly formats: readonly Format[];
  readonly extract: ExtractOptions | null;
  readonly parts?: PartOptions;
}): boolean {
  // Jobs stored by an earlier version have no such field.
  const isHtmlOfParts = wanted.parts !== undefined && wanted.formats.includes('html');
  return (
    isHtmlOfParts ||
    (wanted.extract ?? null) !== null ||
    wanted.formats.some((format) => FULL_FORMATS.has(format))
  );
}
