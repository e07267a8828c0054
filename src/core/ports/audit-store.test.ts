import { describe, expect, it } from 'vitest';
import { type AuditEntry, type AuditRecord, auditHash, NO_HASH, verifyAudit } from './audit-store.ts';

function chainOf(count: number): AuditRecord[] {
  const records: AuditRecord[] = [];
  for (let seq = 1; seq <= count; seq += 1) {
    const entry: AuditEntry = { at: seq, actor: 'a', action: 'key.create', target: 'd', details: { seq } };
    const previousHash = records.at(-1)?.hash ?? NO_HASH;
    records.push({
      ...entry,
      seq,
      previousHash,
      hash: auditHash(previousHash, seq, entry, JSON.stringify(entry.details)),
    });
  }
  return records;
}

async function* inTurn(records: readonly AuditRecord[]) {
  yield* records;
}

const faultOf = async (records: readonly AuditRecord[], expected = records.slice(-1)) =>
  (await verifyAudit(inTurn(records), expected)).fault;

describe('the chain of the audit log', () => {
  it('has the hash that its description says', () => {
    const entry = { at: 1, actor: 'a', action: 'b', target: 'c' };
    // printf '%064d\n1\n1\n%s\n%s\n%s\n%s' 0 (sha256 of a, b, c and {}) | sha256sum
    expect(auditHash(NO_HASH, 1, entry, '{}')).toBe(
      '38baf6c53f57e2b250e4faee8f823e8f56989d48bf0592f509b0d988ee005823',
    );
  });

  it('holds when nothing was changed', async () => {
    const chain = chainOf(4);
    expect(await verifyAudit(inTurn(chain), chain.slice(1, 2))).toEqual({
      count: 4,
      head: { seq: 4, hash: chain[3]?.hash },
      fault: null,
    });
    expect(await faultOf([])).toBeNull();
  });

  it.each([
    ['at', 9],
    ['actor', 'x'],
    ['action', 'x'],
    ['target', 'x'],
    ['details', { seq: 9 }],
    ['hash', NO_HASH],
  ])('does not hold when the %s of an entry was changed', async (field, value) => {
    const chain = chainOf(4).map((record) => (record.seq === 2 ? { ...record, [field]: value } : record));
    expect(await faultOf(chain)).toEqual({ seq: 2, reason: 'the entry was changed' });
  });

  it('does not hold when an entry was taken out, put in, or the end is missing', async () => {
    const chain = chainOf(4);
    expect(await faultOf(chain.filter(({ seq }) => seq !== 2))).toMatchObject({ seq: 2 });
    expect(await faultOf([...chain.slice(0, 2), ...chain.slice(1)])).toMatchObject({ seq: 3 });
    expect(await faultOf(chain.slice(0, 3), chain.slice(-1))).toMatchObject({ seq: 4 });
  });

  it('does not hold when it was written anew and an earlier head is known', async () => {
    const other = chainOf(4).map((record) => ({ ...record, actor: 'x' }));
    let previousHash = NO_HASH;
    const anew = other.map((record) => {
      const hash = auditHash(previousHash, record.seq, record, JSON.stringify(record.details));
      const written = { ...record, previousHash, hash };
      previousHash = hash;
      return written;
    });
    expect(await faultOf(anew)).toBeNull();
    expect(await faultOf(anew, chainOf(4).slice(1, 2))).toMatchObject({ seq: 2 });
  });
});
