import { z } from 'zod';
import { EXPORT_FORMATS, JOB_EXPORT_TYPES } from '../../../core/model/export-registry.ts';
import { urlPart } from '../../../lib/url-part.ts';
import { dataOf } from '../api-call.ts';
import { id, jobId } from '../fields.ts';
import { onlyFields } from '../listing.ts';
import { type ExportAnswer, type Part, text, tool } from '../tool.ts';

/** Tools that make files of jobs. */

export const exportJob = tool({
  name: 'export',
  title: 'Export a job',
  description:
    'Starts to write the pages of a job to a file and returns an export id. Follow it with export_status.',
  input: z.object({
    id: jobId,
    type: z
      .enum(JOB_EXPORT_TYPES)
      .default('full')
      .describe('full, seo, links, records: tables; raw: archives and Markdown'),
    format: z.enum(EXPORT_FORMATS).default('csv'),
  }),
  isReadOnly: false,
  async run({ id: job, type, format }, { api, signal }) {
    const path = `/v1/jobs/${urlPart(job)}/exports`;
    const made = await dataOf<ExportAnswer>(api, {
      method: 'POST',
      path,
      body: { type, format },
      signal,
    });
    return [text(`Export ${made.id} is ${made.status}. Call export_status with this id.`)];
  },
});

export const exportStatus = tool({
  name: 'export_status',
  title: 'Follow an export',
  description: 'How far an export is; once it is ready, a link to the file.',
  input: z.object({ id: id.describe('Export id') }),
  isReadOnly: true,
  async run({ id: named }, { api, signal, exportUri }): Promise<readonly Part[]> {
    const path = `/v1/exports/${urlPart(named)}`;
    const made = await dataOf<ExportAnswer>(api, { method: 'GET', path, signal });
    const told = text(
      onlyFields(made, ['id', 'jobId', 'type', 'format', 'status', 'rows', 'sizeBytes', 'error']),
    );
    if (made.status !== 'ready') return [told];
    const uri = await exportUri(made);
    const name = `${made.type} of ${made.jobId} (${made.format})`;
    return [told, { type: 'resource_link', uri, name, mimeType: 'application/octet-stream' }];
  },
});
