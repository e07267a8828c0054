import type { FastifyRequest } from 'fastify';
import { isSnapshotId } from '../../capabilities/snapshots/snapshot-key.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Snapshot, SnapshotStore } from '../../core/ports/snapshot-store.ts';
import { accountOf, mayReadPrivate } from '../server/caller.ts';

/** A snapshot of the account of the key. Throws NOT_FOUND, and FORBIDDEN for one that the key may not see. */
export async function readableSnapshot(
  store: Pick<SnapshotStore, 'getSnapshot'>,
  request: FastifyRequest,
  id: string,
): Promise<Snapshot> {
  const snapshot = isSnapshotId(id) ? await store.getSnapshot(accountOf(request), id) : null;
  if (snapshot === null) throw new ScrapifieError('NOT_FOUND', `There is no snapshot ${id.slice(0, 64)}.`);
  if (!snapshot.isPrivate || mayReadPrivate(request)) return snapshot;
  throw new ScrapifieError(
    'FORBIDDEN',
    'The snapshot may show what stored credentials give access to: this API key lacks the scope "credentials:read".',
  );
}
