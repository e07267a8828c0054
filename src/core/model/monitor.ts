import type { AccountId, ContentHash, JobId, MonitorId, ScheduleId, TaskId, WebhookId } from './ids.ts';

/** What a monitor looks at. */
export const MONITOR_TARGETS = ['urls', 'site', 'sitemap'] as const;
export type MonitorTarget = (typeof MONITOR_TARGETS)[number];

/**
 * ADDED and REMOVED: of the pages of a site or sitemap; REMOVED also of a page that answers 404 for good. MOVED: the same
 * content under another URL. MODIFIED: other content. REVERTED: content that the page had before.
 */
export const CHANGE_KINDS = ['ADDED', 'REMOVED', 'MODIFIED', 'MOVED', 'REVERTED'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** How sure a monitor has to be before it tells of a change. */
export interface ChangeRules {
  /** Checks in a row that must have seen the same new content. */
  readonly confirm: number;
  /** How long a page that is gone, empty or almost wholly another has to stay so. */
  readonly settleMs: number;
  /** Checks in a row that must have failed before the failure is reported. */
  readonly failAfter: number;
  /** Whether what differs at almost every check is left out by itself. */
  readonly learnNoise: boolean;
}

/** What the watched part of a page was at one check. */
export interface WatchedContent {
  readonly at: number;
  /** Without white space around them, and without empty ones. */
  readonly lines: readonly string[];
  /** When each line was seen, where that was not at `at`. */
  readonly ats?: readonly number[];
}

/** A place of the watched content that was seen with several contents. Its range is of the lines of the baseline. */
export interface Slot {
  readonly from: number;
  /** Exclusive; equal to `from` when nothing stands there in the baseline. */
  readonly to: number;
  /** The number of the line, counted from 0, that differs and nothing else; null: whole lines do. */
  readonly part: number | null;
  /** The content that was seen last, and how many checks in a row have seen it. */
  readonly last: string;
  readonly run: number;
  /** How often content went away again before it was confirmed. */
  readonly flickers: number;
  /** Differs at almost every check: it is left out of the comparison. */
  readonly isNoise: boolean;
  readonly values: readonly SlotValue[];
  /** The last check at which a content was seen for the first time. */
  readonly newAtCheck: number;
}

export interface SlotValue {
  /** `base` for the content of the baseline, else a hash. */
  readonly id: string;
  /** Checks that saw it, and the first of them. */
  readonly seen: number;
  readonly firstCheck: number;
  /** The content came when the contents of the slot had been known for a while. */
  readonly isLate: boolean;
  /** The content was reported as a change, or the page had it when the monitor began. */
  readonly isTold: boolean;
  /** As many checks in a row as confirm a change have seen it. */
  readonly isSteady: boolean;
  /** How many lines it has, for slots that are noise. */
  readonly lines: number;
}

/** What a monitor remembers of one URL. */
export interface PageState {
  /** The content that was reported last, or that the page had when the monitor began; null until the page was seen. */
  readonly baseline: WatchedContent | null;
  readonly title: string | null;
  /** The page that the baseline was last equal to. */
  readonly source: PageSource | null;
  /** Checks that saw a real page. */
  readonly checks: number;
  /** When the first of them was; of the present baseline's kind of page. */
  readonly since: number;
  readonly slots: readonly Slot[];
  /** Hashes of former baselines, the newest last. */
  readonly former: readonly string[];
  /** The page has been gone, empty or almost wholly another since then. */
  readonly doubt: Doubt | null;
  readonly trouble: Trouble | null;
  /** The page was seen, and is not yet reported as ADDED. */
  readonly isNew: boolean;
  /** The body of `source` has the content of the baseline, and there is nothing more to learn about the page. */
  readonly isSettled: boolean;
}

/** Where a content can be read. */
export interface PageSource {
  readonly jobId: JobId;
  readonly taskId: TaskId;
  /** Hash of the body; null where no body is stored. */
  readonly contentHash: ContentHash | null;
}

export interface Doubt {
  readonly kind: 'gone' | 'missing' | 'other' | 'empty';
  readonly since: number;
  readonly checks: number;
  /** What was seen last; null when nothing was. */
  readonly content: WatchedContent | null;
}

/** Checks that failed, in a row. */
export interface Trouble {
  readonly since: number;
  readonly checks: number;
  readonly reason: string;
  readonly isTold: boolean;
}

/** What a client may say about a monitor, besides its name and schedule. */
export interface MonitorSettings {
  readonly target: MonitorTarget;
  readonly rules: ChangeRules;
  /** What is compared and how large a change must be, as `diffRulesSchema` reads it. */
  readonly diff: unknown;
  /** Pages that it remembers at most. */
  readonly maxPages: number;
  /** After which time pages that look changed are looked at again; null: not before the next check. */
  readonly recheckMs: number | null;
  /** The webhooks of this monitor alone. */
  readonly webhookIds: readonly WebhookId[];
}

/** How the last check ended. */
export interface MonitorSummary {
  readonly pages: number;
  readonly changes: number;
  readonly failed: number;
  /** For the monitor of a site: the crawl is proven to have covered the site. */
  readonly isCovered: boolean;
  /** A check has covered the site before, so that a page that was not there then is a new one. */
  readonly hasBaseline: boolean;
}

export interface Monitor {
  readonly id: MonitorId;
  readonly accountId: AccountId;
  readonly scheduleId: ScheduleId;
  readonly name: string;
  readonly settings: MonitorSettings;
  /** Grows with every change that a client makes. */
  readonly revision: number;
  /** Checks that were recorded; it begins again where its pages are forgotten. */
  readonly checks: number;
  readonly lastCheck: (MonitorSummary & { readonly at: number; readonly jobId: JobId }) | null;
  readonly lastChangeAt: number | null;
  /** When pages are looked at again that the last check was not sure of; null: none are. */
  readonly recheckAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}
