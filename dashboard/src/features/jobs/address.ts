import { JOB_KINDS, JOB_STATUSES } from '../../api/choices.ts';
import type { JobStatus } from '../../api/types.ts';

export const STATUSES = JOB_STATUSES;
export const KINDS = JOB_KINDS.map(({ value }) => value);
export const PERIODS = ['hour', 'day', 'week', 'month'] as const;
export const TABS = ['overview', 'pages', 'urls', 'tree', 'exports', 'compare', 'settings'] as const;

export type Period = (typeof PERIODS)[number];
export type JobTab = (typeof TABS)[number];

type Raw = Readonly<Record<string, unknown>>;

/** The filters of the list of jobs, as they stand in its address. */
export interface JobsSearch {
  readonly status?: JobStatus | undefined;
  readonly kind?: (typeof KINDS)[number] | undefined;
  readonly domain?: string | undefined;
  readonly period?: Period | undefined;
  readonly text?: string | undefined;
}

/** A form may be filled by a URL or by the options of an earlier job. */
export interface NewJobSearch {
  readonly url?: string | undefined;
  readonly clone?: string | undefined;
  readonly kind?: 'crawl' | 'batch' | 'sitemap' | undefined;
}

export interface JobSearch {
  readonly tab?: JobTab | undefined;
  /** Compare: the earlier job. */
  readonly against?: string | undefined;
}

const oneOf = <T extends string>(values: readonly T[], value: unknown): T | undefined =>
  values.find((each) => each === value);

/** The router reads `text=404` as a number. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number'
    ? String(value).slice(0, 2_000) || undefined
    : undefined;

/** A wrong filter of an address is left out, so that it shows the whole list and not a failure. */
export const readJobsSearch = (raw: Raw): JobsSearch =>
  given({
    status: oneOf(STATUSES, raw.status),
    kind: oneOf(KINDS, raw.kind),
    domain: textOf(raw.domain),
    period: oneOf(PERIODS, raw.period),
    text: textOf(raw.text),
  });

export const readNewJobSearch = (raw: Raw): NewJobSearch =>
  given({
    url: textOf(raw.url),
    clone: textOf(raw.clone),
    kind: oneOf(['crawl', 'batch', 'sitemap'] as const, raw.kind),
  });

/** Filters of the tabs are read by the tabs themselves, so they pass through. */
export const readJobSearch = (raw: Raw): JobSearch => ({
  ...raw,
  tab: oneOf(TABS, raw.tab),
  against: textOf(raw.against),
});

const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
