import type { ExtractOptions } from '../../model/extraction.ts';
import type { Format } from '../../model/job.ts';

const DEEP_FORMATS: ReadonlySet<Format> = new Set(['text', 'markdown', 'content', 'structured']);

/** Whether anything is wanted that the streaming pass does not give. */
export function wantsDeep(wanted: {
  readonly formats: readonly Format[];
  readonly extract: ExtractOptions | null;
}): boolean {
  // Jobs stored by an earlier version have no such field.
  return (wanted.extract ?? null) !== null || wanted.formats.some((format) => DEEP_FORMATS.has(format));
}
