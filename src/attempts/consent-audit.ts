import { ENGINE_TRAITS } from '../model/engine-traits.ts';
import type { HostKey } from '../model/ids.ts';
import type { Consent } from '../model/policy.ts';
import type { LadderStep } from '../plan/ladder/ladder.ts';
import type { AccountStore } from '../ports/store.ts';
import type { RunningJob } from './running-job.ts';

type Step = Extract<LadderStep, { kind: 'attempt' }>;

/** Writes each use of what needs the operator's consent to the audit, once for each job of this owner of the host. */
export function createConsentAudit(
  store: Pick<AccountStore, 'audit'>,
  host: HostKey,
  now: () => number,
): (step: Step, running: RunningJob) => Promise<void> {
  /** Bounded by the jobs of one slice. */
  const written = new Set<string>();
  return async (step, { job }) => {
    const consents = consentsOf(step).filter((consent) => !written.has(`${job.id} ${consent}`));
    if (consents.length === 0) return;
    for (const consent of consents) written.add(`${job.id} ${consent}`);
    const { engine, reason } = step;
    const details = { jobId: job.id, consents, engine, reason };
    await store.audit([{ at: now(), actor: job.accountId, action: 'consent.use', target: host, details }]);
  };
}

function consentsOf({ engine, identity, hasSolver }: Step): Consent[] {
  const consents: Consent[] = [];
  const { consent } = ENGINE_TRAITS[engine];
  if (consent !== null) consents.push(consent);
  else if (identity === 'browser') consents.push('identity');
  if (hasSolver) consents.push('captcha');
  return consents;
}
