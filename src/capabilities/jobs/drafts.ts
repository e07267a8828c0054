import type { JobKind } from '../../core/model/job-kinds.ts';
import {
  type Consents,
  draftBatch,
  draftCrawl,
  draftMap,
  draftScrape,
  type JobDraft,
  type OperatorOptions,
} from './job-draft.ts';
import type { RequestOf } from './job-request.ts';

type DrawUp<Kind extends JobKind> = (
  request: RequestOf<Kind>,
  ...how: [Consents, OperatorOptions?]
) => JobDraft;
/** What job is made of a request of each kind. */
const DRAFTS: { readonly [Kind in JobKind]: DrawUp<Kind> } = {
  scrape: draftScrape,
  batch: draftBatch,
  crawl: draftCrawl,
  map: draftMap,
};

export const draftOf = <Kind extends JobKind>(
  { kind, request }: { readonly kind: Kind; readonly request: RequestOf<Kind> },
  ...how: [Consents, OperatorOptions?]
): JobDraft => DRAFTS[kind](request, ...how);
