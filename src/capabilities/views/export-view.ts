import { z } from 'zod';
import { EXPORT_STATUSES, type Export } from '../../core/model/export.ts';
import { EXPORT_FORMATS, EXPORT_TYPES } from '../../core/model/export-registry.ts';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';
import { signedPath } from '../exports/export-file.ts';
import { selfLinks, selfSchema } from './list.ts';

const time = z.iso.datetime();

export const exportSchema = z
  .object({
    id: z.string(),
    jobId: z.string(),
    type: z.enum(EXPORT_TYPES),
    format: z.enum(EXPORT_FORMATS),
    against: z.string().nullable().describe('`diff`: the job that it is compared with.'),
    status: z.enum(EXPORT_STATUSES),
    rows: z.number().int().describe('Rows, or pages, written so far.'),
    sizeBytes: z.number().int().describe('Bytes written so far.'),
    sha256: z.string().nullable().describe('Of the file, in hex; null until it is ready.'),
    url: z
      .string()
      .nullable()
      .describe(
        'The file, for an hour, without an API key: everyone with the link can read it. 409 until it is ready; null when it failed.',
      ),
    to: z.string().nullable().describe('The place that gets a copy as well.'),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    createdAt: time,
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    links: selfSchema.extend({ download: z.string(), job: z.string() }),
  })
  .meta({ id: 'Export' });

export type ExportView = z.infer<typeof exportSchema>;

const maybeTime = (at: number | null) => isoTimeOrNull(at);

/** `origin`: where the client reached this server. */
export function exportView(of: Export, origin: string, now: number): ExportView {
  const { id, jobId, spec, status, rows, sizeBytes, sha256, error } = of;
  const { type, format, against = null, to } = spec;
  return {
    id,
    jobId,
    type,
    format,
    against,
    status,
    rows,
    sizeBytes,
    sha256,
    url: status === 'failed' ? null : `${origin}${signedPath(of, now)}`,
    to: to === undefined ? null : 'folder' in to ? to.folder : to.s3,
    error: status === 'ready' ? null : error,
    createdAt: isoTime(of.createdAt),
    startedAt: maybeTime(of.startedAt),
    finishedAt: maybeTime(of.finishedAt),
    links: {
      ...selfLinks('exports', id),
      download: `/v1/exports/${id}/download`,
      job: `/v1/jobs/${jobId}`,
    },
  };
}
