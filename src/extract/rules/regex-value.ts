import type { Regex, RegexMatch } from './regex.ts';

/** What a match is worth: the group asked for, else an object of the named groups, else the first group, else all of it. */
export function matchValue({ names }: Regex, { groups }: RegexMatch, group: string | number | null): unknown {
  if (typeof group === 'number') return groups[group] ?? null;
  if (group !== null) return groups[names.get(group) ?? 0] ?? null;
  if (names.size === 0) return (groups.length > 1 ? groups[1] : groups[0]) ?? null;
  return Object.fromEntries(Array.from(names, ([name, number]) => [name, groups[number] ?? null]));
}
