import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { pathOf } from '../../api/client.ts';
import { formatDateTime, formatPercent, plural } from '../../format/format.ts';
import { DiffView, type TextDiff } from '../../kit/diff-view.tsx';
import { type FieldChange, FieldDiff } from '../../kit/field-diff.tsx';
import { Stack } from '../../kit/layout.tsx';
import { Notice, QueryView, Skeleton } from '../../kit/states.tsx';
import styles from './page-views.module.css';
import { type DiffMode, diffQuery, type Snapshot } from './queries.ts';

interface Sides {
  readonly before: Snapshot;
  readonly after: Snapshot;
}

interface PictureDiff {
  readonly share: number | null;
  readonly boxes: readonly unknown[];
  readonly problem?: 'too-large' | 'not-png';
}

/** How two versions of a page differ, by their text, their fields or their pictures. */
export function VersionDiff({ before, after, mode }: Sides & { readonly mode: DiffMode }) {
  const query = useQuery(diffQuery(before.id, after.id, mode));
  return (
    <QueryView query={query} skeleton={<Skeleton lines={8} />}>
      {(found) => {
        if (found === null)
          return <Notice tone="info">The two versions have nothing that can be compared in this way.</Notice>;
        if (mode === 'visual')
          return <Pictures before={before} after={after} diff={found.diff as PictureDiff | null} />;
        if (!found.isChanged) return <Notice tone="good">No difference.</Notice>;
        if (mode === 'fields') return <FieldDiff fields={found.diff as readonly FieldChange[]} />;
        return (
          <DiffView
            diff={found.diff as TextDiff}
            label="Text of the two versions"
            before={formatDateTime(before.firstSeenAt)}
            after={formatDateTime(after.firstSeenAt)}
          />
        );
      }}
    </QueryView>
  );
}

const shareText = (share: number): string => (share < 0.001 ? 'Less than 0.1 %' : formatPercent(share));

function Pictures({ before, after, diff }: Sides & { readonly diff: PictureDiff | null }) {
  if (before.screenshot === null || after.screenshot === null) {
    return (
      <Notice tone="info">
        Only versions with a screenshot can be compared. Add `screenshot` to the formats of the crawl or
        monitor.
      </Notice>
    );
  }
  const isCompared = diff !== null && diff.problem === undefined;
  return (
    <Stack>
      <p>
        {diff === null
          ? 'The pictures show no difference.'
          : isCompared
            ? `${shareText(diff.share ?? 0)} of the pixels differ, in ${plural(diff.boxes.length, 'place')}.`
            : 'The pictures differ, and are too large or of another kind to be compared pixel by pixel.'}
      </p>
      <div className={styles.pictures}>
        <Picture src={before.screenshot.url} name={`Before: ${formatDateTime(before.firstSeenAt)}`} />
        <Picture src={after.screenshot.url} name={`After: ${formatDateTime(after.firstSeenAt)}`} />
        {isCompared && <DifferencePicture before={before.id} after={after.id} />}
      </div>
    </Stack>
  );
}

const Picture = ({ src, name }: { readonly src: string; readonly name: string }) => (
  <figure className={styles.figure}>
    <figcaption>{name}</figcaption>
    <a href={src} target="_blank" rel="noopener noreferrer" aria-label={`${name}, in full size`}>
      <img src={src} alt={name} loading="lazy" />
    </a>
  </figure>
);

/** An image element does not ask for PNG by name, and without that the server answers with figures. */
const pictureQuery = (before: string, after: string) =>
  queryOptions({
    queryKey: ['pages', 'picture-diff', before, after],
    queryFn: async ({ signal }) => {
      const path = pathOf(
        '/v1/snapshots/{id}/diff/{other}',
        { id: before, other: after },
        { mode: 'visual' },
      );
      const response = await fetch(path, { headers: { accept: 'image/png' }, signal });
      if (!response.ok)
        throw new ApiError({
          status: response.status,
          code: 'BAD_ANSWER',
          message: 'The picture of the difference cannot be loaded.',
        });
      return response.blob();
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });

function DifferencePicture({ before, after }: { readonly before: string; readonly after: string }) {
  const query = useQuery(pictureQuery(before, after));
  const [src, setSrc] = useState<string | null>(null);
  useEffect(() => {
    if (query.data === undefined) return;
    const made = URL.createObjectURL(query.data);
    setSrc(made);
    return () => URL.revokeObjectURL(made);
  }, [query.data]);
  return (
    <QueryView query={query} skeleton={<Skeleton lines={8} />}>
      {() => (src === null ? null : <Picture src={src} name="Difference, in red" />)}
    </QueryView>
  );
}
