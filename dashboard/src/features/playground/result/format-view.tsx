import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Page } from '../../../api/types.ts';
import { EmptyState, QueryView, Skeleton } from '../../../kit/states.tsx';
import { type StoredFormat, storedFormatQuery } from '../stored-pages.ts';
import type { Run } from './run.ts';

/**
 * A format of the page: from the answer where it was asked for, else read from the stored page, without another
 * request to the site.
 */
export function FormatView<F extends StoredFormat>({
  run,
  format,
  children,
}: {
  readonly run: Run;
  readonly format: F;
  readonly children: (value: NonNullable<Page[F]>) => ReactNode;
}) {
  const given = run.page[format];
  const query = useQuery({ ...storedFormatQuery(run.jobId, format), enabled: given === undefined });
  const show = (value: Page[F] | undefined) =>
    value === undefined || value === null ? (
      <EmptyState title="Nothing to show">
        The page has nothing in this format, or its stored body has expired.
      </EmptyState>
    ) : (
      children(value)
    );
  if (given !== undefined) return show(given);
  return (
    <QueryView query={query} skeleton={<Skeleton lines={10} />}>
      {(page) => show(page?.[format])}
    </QueryView>
  );
}
