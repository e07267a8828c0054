/** The properties by which kinds of jobs differ, for every part of the program that treats them differently. */
export interface JobKindTraits {
  /** The name of the kind in lists for people. */
  readonly label: string;
  /**
   * The job is about one page, which answers its request. The request has the options of the page beside its URL; those of other
   * kinds have them under `options`.
   */
  readonly isSinglePage: boolean;
  /** The request has `url`, and not `urls`. */
  readonly hasOneUrl: boolean;
  /** A client waits for the answer: its tasks are due at once, before those of other jobs, and nothing is put off for long. */
  readonly isUrgent: boolean;
  /** The request waits for the end of the job, unless it asks not to: it is told at once when the host is held. */
  readonly isAwaited: boolean;
  /** Pages whose links are the next URLs of the job: none, that of the start URL, or every one. */
  readonly follows: 'nothing' | 'start' | 'everything';
  /** Pages that are found are listed and not fetched, so that the results are URLs; otherwise pages are fetched and kept. */
  readonly isListOfUrls: boolean;
  /** Pages that ask to log in are no results of a job with a session, and too many in a row stop it. */
  readonly stopsAtLoginWalls: boolean;
  /** Two jobs of such kinds can be compared as the pages of a site: what one does not have is gone. */
  readonly isOfSite: boolean;
  /** A schedule can start it, and `POST /v1/estimate` takes it. */
  readonly isScheduled: boolean;
  /** Each one has an entry in the audit log. Without it, the first use of a key each day has. */
  readonly isAudited: boolean;
}

const FETCHES_GIVEN = {
  follows: 'nothing',
  isListOfUrls: false,
  stopsAtLoginWalls: false,
  isOfSite: false,
} as const;

/**
 * The one registry of the kinds of jobs. What a request of a kind is, and what job is made of it, stands in `JOB_REQUESTS` of
 * `capabilities/jobs/request/job-request.ts` and `DRAFTS` of `capabilities/jobs/accept/job-draft.ts`, which do not compile without an entry for
 * each kind.
 */
export const JOB_KIND_TRAITS = {
  scrape: {
    ...FETCHES_GIVEN,
    label: 'Scrape',
    isSinglePage: true,
    hasOneUrl: true,
    isUrgent: true,
    isAwaited: true,
    isScheduled: true,
    isAudited: false,
  },
  batch: {
    ...FETCHES_GIVEN,
    label: 'Batch',
    isSinglePage: false,
    hasOneUrl: false,
    isUrgent: false,
    isAwaited: false,
    isScheduled: true,
    isAudited: true,
  },
  crawl: {
    label: 'Crawl',
    isSinglePage: false,
    hasOneUrl: false,
    isUrgent: false,
    isAwaited: false,
    follows: 'everything',
    isListOfUrls: false,
    stopsAtLoginWalls: true,
    isOfSite: true,
    isScheduled: true,
    isAudited: true,
  },
  map: {
    label: 'Map',
    isSinglePage: false,
    hasOneUrl: true,
    isUrgent: false,
    isAwaited: true,
    follows: 'start',
    isListOfUrls: true,
    stopsAtLoginWalls: false,
    isOfSite: false,
    isScheduled: false,
    isAudited: true,
  },
} as const satisfies Readonly<Record<string, JobKindTraits>>;

export type JobKind = keyof typeof JOB_KIND_TRAITS;
/** The kinds that have a trait. */
export type KindsWith<Traits> = {
  [Kind in JobKind]: (typeof JOB_KIND_TRAITS)[Kind] extends Traits ? Kind : never;
}[JobKind];

export const JOB_KINDS = Object.keys(JOB_KIND_TRAITS) as [JobKind, ...JobKind[]];
export const traitsOfKind = (kind: JobKind): JobKindTraits => JOB_KIND_TRAITS[kind];

/** The kinds of which all these traits are true. */
export const kindsWith = <const Traits extends Partial<JobKindTraits>>(traits: Traits): KindsWith<Traits>[] =>
  JOB_KINDS.filter((kind) =>
    Object.entries(traits).every(
      ([name, value]) => traitsOfKind(kind)[name as keyof JobKindTraits] === value,
    ),
  ) as KindsWith<Traits>[];

/** Kinds that a schedule can start. */
export type ScheduledKind = KindsWith<{ isScheduled: true }>;
export const SCHEDULED_KINDS = kindsWith({ isScheduled: true });
/** Kinds that fetch the URLs that they are given and no others: a page of theirs may answer a later request. */
export const FETCHING_GIVEN = kindsWith({ follows: 'nothing' });
