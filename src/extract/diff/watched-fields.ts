import type { CompiledDiffRules, DiffRules } from './diff-rules.ts';
import { diffFields, type FieldChange, normalized, type PageFields } from './field-diff.ts';

const MOST_DEPTH = 8;

/** The fields that are watched; `clean` removes what is ignored from each text. */
export function watchFields(
  fields: PageFields,
  { watch, ignore }: WatchedNames,
  clean: (text: string) => string,
): PageFields {
  const isWatched = (name: string): boolean =>
    (watch.fields === 'all' || watch.fields.includes(name)) && !ignore.fields.includes(name);
  const cleaned = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return clean(value);
    if (typeof value !== 'object' || value === null || depth === 0) return value;
    if (Array.isArray(value)) return value.map((each) => cleaned(each, depth - 1));
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cleaned(each, depth - 1)]));
  };
  const kept = Object.entries(fields).filter(([name]) => isWatched(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, normalized(cleaned(value, MOST_DEPTH))]));
}

interface WatchedNames {
  readonly watch: Pick<DiffRules['watch'], 'fields'>;
  readonly ignore: { readonly fields: readonly string[] };
}

/** The fields that changed by as much as the threshold says; only numbers have an amount. */
export function changedFields(
  a: PageFields,
  b: PageFields,
  { threshold }: Pick<CompiledDiffRules, 'threshold'>,
): FieldChange[] {
  return diffFields(a, b).filter(
    ({ share, difference }) =>
      share === undefined ||
      difference === undefined ||
      (share >= threshold.share && Math.abs(difference) >= threshold.amount),
  );
}
