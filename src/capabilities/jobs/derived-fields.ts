import { z } from 'zod';
import type { DerivedOptions } from '../../core/model/derived.ts';
import { formatProblem } from '../../core/model/export.ts';
import { EXPORT_FORMATS, JOB_EXPORT_TYPES } from '../../core/model/export-registry.ts';

const MAX_EXPORTS = 20;

/** What a job leaves besides its pages. All of it is made after the pages were committed, and slows no crawl. */
export const derivedFields = {
  snapshots: z
    .boolean()
    .default(false)
    .describe(
      'Keep each distinct content of a page in the history of its URL, over all jobs: `GET /v1/pages?url=`.',
    ),
  search: z.boolean().default(false).describe('Make the pages of the job findable by `GET /v1/search`.'),
  lake: z
    .boolean()
    .default(false)
    .describe(
      'Write pages, links and records of the job to the lake: Parquet files that SQL can be asked of.',
    ),
  exports: z
    .array(
      z
        .strictObject({
          type: z.enum(JOB_EXPORT_TYPES).describe('What the file has.'),
          format: z.enum(EXPORT_FORMATS).describe('How it is written.'),
        })
        .superRefine((wish, context) => {
          const message = formatProblem(wish);
          if (message !== null) context.addIssue({ code: 'custom', path: ['format'], message });
        }),
    )
    .max(MAX_EXPORTS)
    .default([])
    .describe('Files that are written when the job has ended: `GET /v1/jobs/:id/exports`.')
    .meta({ examples: [[{ type: 'full', format: 'csv' }]] }),
};

type DerivedRequest = {
  readonly [Name in keyof typeof derivedFields]: z.output<(typeof derivedFields)[Name]>;
};

/** The options that were asked for; those that were not are missing. */
export function derivedOptionsOf({
  snapshots,
  search,
  lake,
  exports,
}: Partial<DerivedRequest>): DerivedOptions {
  return {
    ...(snapshots === true ? { snapshots } : {}),
    ...(search === true ? { search } : {}),
    ...(lake === true ? { lake } : {}),
    ...(exports === undefined || exports.length === 0 ? {} : { exports }),
  };
}
