import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/api-error.ts';
import { sessionQuery } from '../api/session.ts';

/** A key that was revoked meanwhile: the next look at the session leads to the sign-in page. */
function onFailure(error: unknown): void {
  if (error instanceof ApiError && error.isSignedOut)
    void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: onFailure }),
  mutationCache: new MutationCache({ onError: onFailure }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 5 * 60_000,
      // A failure that passes is tried again; one that does not is shown at once.
      retry: (count, error) => count < 2 && error instanceof ApiError && error.isTemporary,
      retryDelay: (count) => Math.min(1_000 * 2 ** count, 8_000),
      refetchOnReconnect: 'always',
    },
  },
});
