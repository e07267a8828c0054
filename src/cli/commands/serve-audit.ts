import { hostname } from 'node:os';
import { shownSettings } from '../../core/config/secrets.ts';
import type { Settings } from '../../core/config/settings.ts';
import type { AuditEntry } from '../../core/model/audit-chain.ts';
import type { AuditStore } from '../../core/ports/audit-store.ts';

/**
 * Writes to the audit log that a server starts, with its address and its settings, and what has changed in them since the last start of
 * the same role on the same machine. Secrets are not shown, so that a secret that was replaced by another is no change
 * here; a secret that was added or taken away is.
 */
export async function recordStart(
  store: Pick<AuditStore, 'audit' | 'listAudit'>,
  settings: Settings,
  { version, origin, at }: Start,
  machine = hostname(),
): Promise<void> {
  const target = `${settings.role}@${machine}`;
  const common = { at, actor: 'server', target };
  const after = shownSettings(settings);
  const { items } = await store.listAudit({ action: 'server.start', target, limit: 1 });
  const before = items[0]?.details.settings as typeof after | undefined;
  const entries: AuditEntry[] = [
    { ...common, action: 'server.start', details: { version, origin, settings: after } },
  ];
  const changed = before === undefined ? {} : changesOf(before, after);
  if (Object.keys(changed).length > 0) {
    entries.push({ ...common, action: 'settings.change', details: { changed } });
  }
  await store.audit(entries);
}

/** What the audit log has of a server that is about to work. */
interface Start {
  readonly version: string;
  /** The address under which this machine reaches it. */
  readonly origin: string;
  readonly at: number;
}

type Shown = Readonly<Record<string, unknown>>;

/** Null stands for the default. */
function changesOf(before: Shown, after: Shown): Record<string, { from: unknown; to: unknown }> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => [name, { from: before[name] ?? null, to: after[name] ?? null }]),
  );
}
