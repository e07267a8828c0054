import { queryOptions } from '@tanstack/react-query';
import { api } from '../../api/client.ts';

/** The next times of a schedule. */
export const nextRunsQuery = (id: string) =>
  queryOptions({
    queryKey: ['schedules', id, 'next'],
    queryFn: ({ signal }) => api.get('/v1/schedules/{id}/next', { params: { id }, signal }),
  });
