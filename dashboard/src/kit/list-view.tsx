import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ListPage } from '../api/client.ts';
import { Button } from './button.tsx';
import styles from './list-view.module.css';
import { FailureState, Skeleton } from './states.tsx';

export interface ListSource<T> {
  readonly items: readonly T[] | undefined;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  more(): void;
  refetch(): void;
}

/** A list of the server that is loaded page by page, by its cursors. */
export function useList<T>(
  key: QueryKey,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<T>>,
): ListSource<T> {
  const query = useInfiniteQuery({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
  return {
    items: query.data?.pages.flatMap(({ items }) => items),
    error: query.error,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    more: () => void query.fetchNextPage(),
    refetch: () => void query.refetch(),
  };
}

/** What a list has brought, with a button for more; `empty` where it has no entry. */
export function ListView<T>({
  list,
  empty,
  children,
}: {
  readonly list: ListSource<T>;
  readonly empty: ReactNode;
  readonly children: (items: readonly T[]) => ReactNode;
}) {
  const { items, error, hasMore, isLoadingMore, more, refetch } = list;
  if (items === undefined) {
    if (error) return <FailureState failure={error} onRetry={refetch} />;
    return (
      <div className={styles.skeleton}>
        <Skeleton lines={6} />
      </div>
    );
  }
  if (items.length === 0 && !hasMore) return empty;
  return (
    <>
      {children(items)}
      {hasMore && (
        <div className={styles.more}>
          <Button size="small" isBusy={isLoadingMore} onClick={more}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}
