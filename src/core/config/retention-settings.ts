import { whole } from './field-types.ts';

const days = whole(0, 36_500).default(0);

/** How long data is kept; see docs/retention.md. */
export const retentionSettings = {
  retentionBodiesDays: days.describe(
    'Days that bodies are kept as they were fetched; 0: as long as the records of their pages.',
  ),
  retentionArtifactsDays: days.describe(
    'Days that pictures, PDFs and recorded answers are kept; 0: as long as the records of their pages.',
  ),
  retentionRecordsDays: days.describe(
    'Days that is kept what was read out of pages; 0: as long as the pages of the job.',
  ),
  retentionLedgerDays: days.describe(
    'Days that the URLs and pages of an ended job are kept; then its summary stays. 0: as long as the job.',
  ),
  retentionJobsDays: days.describe('Days that an ended job is kept at all; 0: until it is deleted.'),
  retentionExportsDays: days.describe(
    'Days that exports are kept; 0: as long as the URLs and records of their job.',
  ),
  retentionSnapshotsDays: days.describe(
    'Days that the content of a page is kept in its history after it was last seen; 0: for good.',
  ),
  retentionEventsDays: whole(1, 36_500)
    .default(30)
    .describe(
      'Days that events are kept for clients that come back; never less than until webhooks have read them.',
    ),
  retentionMaxJobs: whole(0, 1_000_000_000)
    .default(0)
    .describe('Ended jobs that are kept for each account, the newest; 0: all.'),
  retentionMaxBytes: whole(0, Number.MAX_SAFE_INTEGER)
    .default(0)
    .describe(
      'Bytes of fetched pages that are kept for each account; beyond that the oldest bodies go. 0: without limit.',
    ),
};
