import type { ReferenceStore } from '../../core/ports/retention-store.ts';
import { change, type Methods } from './methods.ts';
import { CLOCK, sql } from './sql.ts';
import { changed, run } from './steps.ts';

/** Which blobs are referred to is read by each database in a way of its own. */
export type WorkLeaseStore = Omit<ReferenceStore, 'listReferences'>;

export const workLeaseStore: Methods<WorkLeaseStore> = {
  leaseWork: change(
    (name, owner, leaseMs) =>
      changed(
        sql`INSERT INTO work_leases (name, owner, until) VALUES (${name}, ${owner}, ${CLOCK} + ${leaseMs})
          ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until
          WHERE work_leases.owner = excluded.owner OR work_leases.until <= ${CLOCK}`,
      ),
    { isUnsynced: true },
  ),

  endWork: change(
    function* (name, owner) {
      yield* run(sql`DELETE FROM work_leases WHERE name = ${name} AND owner = ${owner}`);
    },
    { isUnsynced: true },
  ),
};
