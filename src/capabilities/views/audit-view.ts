import { z } from 'zod';
import type { AuditRecord } from '../../core/model/audit-chain.ts';

const hash = z.string().length(64);

export const auditSchema = z
  .object({
    seq: z.number().int().describe('1 for the first entry; no number is left out.'),
    at: z.iso.datetime(),
    actor: z.string().describe('The id of an API key, an address, an account, or `command line`.'),
    action: z.string().describe('What was done, such as `key.create`.'),
    target: z.string(),
    details: z.record(z.string(), z.unknown()),
    previousHash: hash.describe('`hash` of the entry before; zeros for the first.'),
    hash: hash.describe('SHA-256 over this entry and `previousHash`; docs/security.md says how.'),
  })
  .meta({ id: 'AuditEntry' });

export const auditView = ({ at, ...record }: AuditRecord) => ({
  ...record,
  at: new Date(at).toISOString(),
});
