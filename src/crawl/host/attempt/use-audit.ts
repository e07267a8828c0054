import type { AuditEntry } from '../../../core/model/audit-chain.ts';
import { traitsOf } from '../../../core/model/engine-traits.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import type { Consent } from '../../../core/model/policy.ts';
import type { AuditStore } from '../../../core/ports/audit-store.ts';
import type { RunningJob } from '../process/running-job.ts';
import type { AttemptStep } from './plan-attempt.ts';

/**
 * Writes to the audit log each use of what needs the operator's consent, and each use of stored credentials: once for
 * each job of this owner of the host.
 */
export function createUseAudit(
  store: Pick<AuditStore, 'audit'>,
  host: HostKey,
  now: () => number,
): (step: AttemptStep, running: RunningJob, credentials: string | null) => Promise<void> {
  /** Bounded by the jobs of one slice. */
  const written = new Set<string>();
  const isNew = (use: string) => !written.has(use) && written.add(use) !== undefined;
  return async (step, { job }, credentials) => {
    const needed = consentsOf(step);
    if (needed.length === 0 && credentials === null) return;
    const entries: AuditEntry[] = [];
    const common = { at: now(), actor: job.accountId, target: host };
    const consents = needed.filter((consent) => isNew(`${job.id} consent ${consent}`));
    const { engine, reason } = step;
    if (consents.length > 0) {
      const details = { jobId: job.id, consents, engine, reason };
      entries.push({ ...common, action: 'consent.use', details });
    }
    if (credentials !== null && isNew(`${job.id} credentials ${credentials}`)) {
      entries.push({ ...common, action: 'credential.use', details: { jobId: job.id, credentials, engine } });
    }
    if (entries.length > 0) await store.audit(entries);
  };
}

function consentsOf({ engine, identity, hasSolver }: AttemptStep): Consent[] {
  const consents: Consent[] = [];
  const { consent } = traitsOf(engine);
  if (consent !== null) consents.push(consent);
  else if (identity === 'browser') consents.push('identity');
  if (hasSolver) consents.push('captcha');
  return consents;
}
