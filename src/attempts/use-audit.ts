import type { AuditEntry } from '../model/audit-chain.ts';
import type { HostKey } from '../model/ids.ts';
import type { Consent } from '../model/policy.ts';
import type { LadderStep } from '../plan/ladder/ladder.ts';
import type { AuditStore } from '../ports/audit-store.ts';
import type { RunningJob } from './running-job.ts';

type Step = Extract<LadderStep, { kind: 'attempt' }>;

/**
 * Writes to the audit log each use of what needs the operator's consent, and each use of stored credentials: once for
 * each job of this owner of the host.
 */
export function createUseAudit(
  store: Pick<AuditStore, 'audit'>,
  host: HostKey,
  now: () => number,
): (step: Step, running: RunningJob, credentials: string | null) => Promise<void> {
  /** Bounded by the jobs of one slice. */
  const written = new Set<string>();
  const isNew = (use: string) => !written.has(use) && written.add(use) !== undefined;
  return async (step, { job }, credentials) => {
    const entries: AuditEntry[] = [];
    const common = { at: now(), actor: job.accountId, target: host };
    const consents = consentsOf(step).filter((consent) => isNew(`${job.id} consent ${consent}`));
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

function consentsOf({ engine, identity, hasSolver }: Step): Consent[] {
  const consents: Consent[] = [];
  if (engine === 'stealth' || engine === 'flaresolverr') consents.push('stealth');
  else if (identity === 'browser') consents.push('identity');
  if (hasSolver) consents.push('captcha');
  return consents;
}
