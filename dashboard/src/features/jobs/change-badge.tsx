import type { SiteChange } from '../../api/types.ts';
import { words } from '../../format/format.ts';
import { Badge, type Tone } from '../../kit/badge.tsx';

export type ChangeType = SiteChange['type'];

/** Kinds of changes, each with a sign, so that colour is not the only one. */
export const CHANGE_TYPES: readonly (readonly [ChangeType, Tone, string])[] = [
  ['ADDED', 'good', '+'],
  ['REMOVED', 'bad', '−'],
  ['MODIFIED', 'info', '~'],
  ['MOVED', 'info', '→'],
  ['REVERTED', 'warn', '↩'],
  ['NOT_COVERED', 'idle', '?'],
  ['UNCHANGED', 'idle', '='],
];

export const ChangeBadge = ({ type }: { readonly type: ChangeType }) => {
  const [, tone, sign] = CHANGE_TYPES.find(([each]) => each === type) ?? [type, 'idle' as Tone, ''];
  return (
    <Badge tone={tone}>
      <span aria-hidden>{sign}</span> {words(type.toLowerCase())}
    </Badge>
  );
};
