import { describe, expect, it } from 'vitest';
import type { HostKey } from '../../../core/model/ids.ts';
import type { AuditEntry } from '../../../core/ports/audit-store.ts';
import { createUseAudit } from './prepare-attempt.ts';

type UseAudit = ReturnType<typeof createUseAudit>;
const STEP = {
  kind: 'attempt',
  engine: 'stealth',
  identity: 'browser',
  hasSolver: true,
  reason: 'blocked',
} as unknown as Parameters<UseAudit>[0];
const PLAIN = { ...STEP, engine: 'http', identity: 'bot', hasSolver: false } as Parameters<UseAudit>[0];
const runningOf = (id: string) =>
  ({ job: { id, accountId: 'default' } }) as unknown as Parameters<UseAudit>[1];

function open() {
  const entries: AuditEntry[] = [];
  const store = { audit: async (added: readonly AuditEntry[]) => void entries.push(...added) };
  return { entries, audit: createUseAudit(store, 'shop.example' as HostKey, () => 7) };
}

describe('the audit log of a host', () => {
  it('has each consent that a job uses, once', async () => {
    const { entries, audit } = open();
    for (const id of ['j1', 'j1', 'j2']) await audit(STEP, runningOf(id), null);
    expect(entries.map(({ action, details }) => [action, details.jobId, details.consents])).toEqual([
      ['consent.use', 'j1', ['stealth', 'captcha']],
      ['consent.use', 'j2', ['stealth', 'captcha']],
    ]);
  });

  it('has the use of stored credentials by a job, once, by their name', async () => {
    const { entries, audit } = open();
    for (const id of ['j1', 'j1', 'j2']) await audit(PLAIN, runningOf(id), 'shop');
    await audit(PLAIN, runningOf('j3'), null);
    expect(entries).toEqual(
      ['j1', 'j2'].map((jobId) => ({
        at: 7,
        actor: 'default',
        action: 'credential.use',
        target: 'shop.example',
        details: { jobId, credentials: 'shop', engine: 'http' },
      })),
    );
  });
});
