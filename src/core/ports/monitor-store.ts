import type { AccountId, ChangeId, JobId, MonitorId, ScheduleId } from '../model/ids.ts';
import type { ChangeKind, Monitor, MonitorSettings, MonitorSummary } from '../model/monitor.ts';
import type { NewEvent } from './event-store.ts';
import type { NewSchedule } from './schedule-store.ts';
import type { AccountQuery } from './session-store.ts';
import type { ListPage } from './store.ts';

/**
 * A part of the store: monitors, what each of them remembers of its pages, and the changes that it has reported.
 *
 * A check is the job of a monitor that has ended. It is evaluated once: `recordCheck` stores what the pages are
 * remembered by from now on, the changes and their events in one transaction, and does nothing when the check was recorded
 * before or another one was recorded since the pages were read. So any number of processes may evaluate, and stop at
 * any point.
 */
export interface MonitorStore {
  /**
   * Stores the monitor with the schedule that it owns, unless there is one with its id; returns the stored one. Null when
   * the account has `most` monitors already.
   */
  createMonitor(monitor: NewMonitor, schedule: NewSchedule, most: number): Promise<Monitor | null>;
  /** Null when there is none, or it belongs to another account. */
  getMonitor(account: AccountId, id: MonitorId): Promise<Monitor | null>;
  /** Lists the monitors of an account, the newest first. */
  listMonitors(query: AccountQuery): Promise<ListPage<Monitor>>;
  /**
   * Replaces what clients may change of the monitor. With `forgetsPages` its next check makes a new baseline. Null when it
   * is gone or has another revision; nothing has changed then.
   */
  updateMonitor(change: MonitorUpdate): Promise<Monitor | null>;
  /** Deletes it with its schedule, pages, changes and webhooks; its jobs stay. False when there is none. */
  deleteMonitor(account: AccountId, id: MonitorId): Promise<boolean>;
  /** What the monitor remembers of its pages, in an order that stays the same, those behind `after`. */
  listMonitorPages(query: MonitorPageQuery): Promise<readonly MonitorPage[]>;
  /**
   * Records a check. `recorded`: it is stored. `repeated`: it was stored before. `stale`: another check, or a change
   * of the monitor, was stored since it was read, or the monitor is gone. Nothing has changed in the latter two.
   */
  recordCheck(check: MonitorCheck): Promise<'recorded' | 'repeated' | 'stale'>;
  /** Monitors with pages to look at again that are due by the store's clock. */
  listDueRechecks(limit: number): Promise<readonly DueRecheck[]>;
  /** Takes the pages out, for one caller only: false when another was first or the monitor has other pages to look at. */
  takeRecheck(id: MonitorId, dueAt: number): Promise<boolean>;
  /** Lists the changes of a monitor, the newest first. */
  listMonitorChanges(query: MonitorChangeQuery): Promise<ListPage<MonitorChange>>;
  getMonitorChange(account: AccountId, id: ChangeId): Promise<MonitorChange | null>;
}

/** Changes and checks of one monitor that are kept at least; the oldest beyond are deleted. */
export const MOST_CHANGES_KEPT = 10_000;
export const MOST_CHECKS_KEPT = 1_000;

export interface NewMonitor {
  readonly id: MonitorId;
  readonly accountId: AccountId;
  readonly scheduleId: ScheduleId;
  readonly name: string;
  readonly settings: MonitorSettings;
  readonly createdAt: number;
}

export interface MonitorUpdate {
  readonly accountId: AccountId;
  readonly id: MonitorId;
  /** The revision that was read. */
  readonly revision: number;
  readonly name: string;
  readonly settings: MonitorSettings;
  readonly forgetsPages: boolean;
}

export interface MonitorPageQuery {
  readonly accountId: AccountId;
  readonly monitorId: MonitorId;
  /** The URL of the last page that was read; left out: from the beginning. */
  readonly after?: string | undefined;
  /** Reads only the pages of these URLs. */
  readonly urls?: readonly string[] | undefined;
  readonly limit: number;
}

export interface MonitorPage {
  readonly url: string;
  /** A `PageState` as `packPageState` packs it. The store never looks inside. */
  readonly state: Uint8Array;
}

export interface MonitorCheck {
  readonly accountId: AccountId;
  readonly monitorId: MonitorId;
  readonly jobId: JobId;
  /** The `checks` of the monitor that was read: how many had been recorded. And its revision. */
  readonly checks: number;
  readonly revision: number;
  readonly summary: MonitorSummary;
  /** Pages whose state is another now; null: nothing of it is remembered. */
  readonly pages: readonly { readonly url: string; readonly state: Uint8Array | null }[];
  readonly changes: readonly NewMonitorChange[];
  /** Pages to look at again, and after which time; null: none. It takes the place of the one before. */
  readonly recheck: (Omit<Recheck, 'dueAt'> & { readonly inMs: number }) | null;
  readonly events: readonly NewEvent[];
}

/** Pages that a check was not sure of. */
export interface Recheck {
  readonly dueAt: number;
  /** Round of the job that will look at the pages again, see `JobOptions.monitorRound`. */
  readonly round: number;
  readonly urls: readonly string[];
}

export interface DueRecheck {
  readonly monitor: Monitor;
  readonly recheck: Recheck;
}

export interface NewMonitorChange {
  readonly id: ChangeId;
  readonly kind: ChangeKind;
  readonly url: string;
  /** For a change of kind MOVED, the URL at which the page was before. */
  readonly fromUrl: string | null;
  readonly title: string | null;
  /** What changed in a sentence. */
  readonly summary: string;
  /** The structured diff and what it was made from, as JSON. The store never looks inside. */
  readonly data: Uint8Array;
}

export interface MonitorChange extends NewMonitorChange {
  readonly monitorId: MonitorId;
  readonly accountId: AccountId;
  readonly jobId: JobId;
  readonly at: number;
}

export interface MonitorChangeQuery extends AccountQuery {
  readonly monitorId: MonitorId;
  readonly kind?: ChangeKind | undefined;
  readonly url?: string | undefined;
  /** Changes from this time on. */
  readonly since?: number | undefined;
}
