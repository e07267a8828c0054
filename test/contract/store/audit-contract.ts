import { expect } from 'vitest';
import { countConfirmation } from '../../../src/capabilities/webhooks/mail.ts';
import {
  type AuditEntry,
  type AuditQuery,
  type AuditStore,
  eachAudit,
  NO_HASH,
  verifyAudit,
} from '../../../src/core/ports/audit-store.ts';
import { afterKill, type Claim } from '../contract.ts';
import { T0 } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const entryOf = (n: number, changes: Partial<AuditEntry> = {}): AuditEntry => ({
  at: T0 + n,
  actor: 'key k1',
  action: 'job.cancel',
  target: `job ${n}`,
  details: { n, nested: { reason: '“why”' }, list: [1, 'two', null, 0.5] },
  ...changes,
});

const entries = (count: number) => Array.from({ length: count }, (_, n) => entryOf(n));

const verdictOf = async (store: AuditStore) => verifyAudit(eachAudit(store), [await store.auditHead()]);

/** The audit log: one chain that only grows. */
export function auditContract(holds: Claim<TimedStore>): void {
  holds('keeps the audit log and shows its newest entries', async (store) => {
    expect(await store.listAudit({ limit: 10 })).toEqual({ items: [], nextCursor: null });
    const all = entries(12);
    await store.audit(all.slice(0, 5));
    await store.audit(all.slice(5));
    await store.audit([]);
    const newest = await store.listAudit({ limit: 3 });
    expect(newest.items).toMatchObject(all.slice(-3).reverse());
    expect(newest.nextCursor).not.toBeNull();
    const oldest = await store.listAudit({ order: 'oldest', limit: 100 });
    expect(oldest.items).toMatchObject(all);
    expect(oldest.nextCursor).toBeNull();
  });

  holds(
    'counts confirmations that processes ask for at the same moment: three for one address',
    async (store) => {
      const account = await store.defaultAccount();
      const asked = Array.from({ length: 100 }, (_, n) => {
        // Another object each, as in another process: nothing but the log is shared.
        const own: AuditStore = {
          audit: (added) => store.audit(added),
          listAudit: (query) => store.listAudit(query),
          auditHead: () => store.auditHead(),
        };
        const request = {
          account: `a${n}` as typeof account,
          webhook: 'wh_1',
          address: 'ada@people.example',
        };
        return countConfirmation(own, { ...request, delivery: `dl_${n}` }, T0);
      });
      const ends = await Promise.allSettled(asked);
      expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
      const [code] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.code] : []));
      expect(code).toBe('RATE_LIMITED');
    },
  );

  holds(
    'counts confirmations of one process in turn, so that a burst fills no limit of others',
    async (store) => {
      const account = await store.defaultAccount();
      const asked = Array.from({ length: 100 }, (_, n) =>
        countConfirmation(
          store,
          { account, webhook: 'wh_1', address: `a${n}@people.example`, delivery: `dl_${n}` },
          T0,
        ),
      );
      const ends = await Promise.allSettled(asked);
      expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
      expect((await store.listAudit({ limit: 100 })).items).toHaveLength(20);
    },
  );

  holds('shows the audit log page by page, in both directions', async (store) => {
    const all = entries(7);
    await store.audit(all);
    for (const order of ['newest', 'oldest'] as const) {
      const seqs: number[] = [];
      let cursor: string | undefined;
      do {
        const { items, nextCursor } = await store.listAudit({ order, cursor, limit: 3 });
        seqs.push(...items.map(({ seq }) => seq));
        cursor = nextCursor ?? undefined;
      } while (cursor !== undefined);
      const inOrder = all.map((_, n) => n + 1);
      expect(seqs).toEqual(order === 'oldest' ? inOrder : inOrder.reverse());
    }
  });

  holds('finds audit entries by action, actor, target and time', async (store) => {
    await store.audit([
      entryOf(0, { action: 'key.create' }),
      entryOf(1, { actor: 'key k2' }),
      entryOf(2, { target: 'shop.example' }),
      entryOf(3),
    ]);
    const seqsWhere = async (query: Partial<AuditQuery>) =>
      (await store.listAudit({ limit: 10, ...query })).items.map(({ seq }) => seq);
    expect(await seqsWhere({ action: 'key.create' })).toEqual([1]);
    expect(await seqsWhere({ actor: 'key k2' })).toEqual([2]);
    expect(await seqsWhere({ target: 'shop.example' })).toEqual([3]);
    expect(await seqsWhere({ since: T0 + 1, until: T0 + 3 })).toEqual([3, 2]);
    expect(await seqsWhere({ actor: 'key k2', action: 'key.create' })).toEqual([]);
  });

  holds('chains audit entries by their hashes, also after a kill', async (store, opened) => {
    expect(await store.auditHead()).toEqual({ seq: 0, hash: NO_HASH });
    await store.audit(entries(3));
    const [first, second] = (await store.listAudit({ order: 'oldest', limit: 2 })).items;
    expect(first).toMatchObject({ seq: 1, previousHash: NO_HASH });
    expect(second).toMatchObject({ seq: 2, previousHash: first?.hash });
    await afterKill(opened, async (again) => {
      await again.audit(entries(2));
      const head = await again.auditHead();
      expect(await verdictOf(again)).toEqual({ count: 5, head, fault: null });
    });
  });

  holds('makes one chain of what many write to the audit log at once', async (store, opened) => {
    await afterKill(opened, async (other) => {
      const writes = Array.from({ length: 40 }, (_, n) =>
        (n % 2 === 0 ? store : other).audit([
          entryOf(n, { target: `first of ${n}` }),
          entryOf(n, { target: `second of ${n}` }),
        ]),
      );
      await Promise.all(writes);
      expect(await verdictOf(store)).toMatchObject({ count: 80, fault: null });
      const targets = (await store.listAudit({ order: 'oldest', limit: 100 })).items.map(
        ({ target }) => target,
      );
      expect(new Set(targets).size).toBe(80);
    });
  });

  holds('keeps hostile text in the audit log so that its hash holds', async (store) => {
    const hostile = 'a\0b\ud800c\n"\\\u2028é😀';
    await store.audit([
      entryOf(0, { actor: hostile, target: hostile, details: { [hostile]: [hostile], '2': 1, '1': 2 } }),
      entryOf(1, { actor: '', target: '', details: {} }),
    ]);
    expect(await verdictOf(store)).toMatchObject({ count: 2, fault: null });
    const [last] = (await store.listAudit({ order: 'oldest', limit: 1 })).items;
    expect(last?.actor).toBe('a\ufffdb\ufffdc\n"\\\u2028é😀');
  });
}
