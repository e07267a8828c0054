import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { JOB_END_EVENTS } from '../../core/model/event-types.ts';
import { type Export, type ExportSpec, formatProblem } from '../../core/model/export.ts';
import {
  EXCEL_FORMATS,
  EXPORT_FORMATS,
  EXPORT_TYPES,
  type ExportFormat,
  exportFormatSpec,
  exportTypeSpec,
  PAGE_FORMATS,
  PAGE_TYPE,
  TABLE_FORMATS,
} from '../../core/model/export-registry.ts';
import type { AccountId, ExportId, JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { requireLedger } from '../../core/model/retention.ts';
import type { ByteRange, Files } from '../../core/ports/blobs.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { ReaderRange, StoredEvent } from '../../core/ports/event-store.ts';
import type { ExportQuery, ExportStore } from '../../core/ports/export-store.ts';
import type { ListPage, Store } from '../../core/ports/store.ts';
import { diffRulesSchema } from '../../extract/diff/diff-rules.ts';
import { defined } from '../../lib/defined.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';
import { checkLink, type ExportPlaces, fileOf, newSecret, removeFiles, targetPlace } from './export-file.ts';

/** Exports of an account. Every method that takes an account throws NOT_FOUND for exports and jobs of others. */
export interface Exports {
  /**
   * Stores the export, to be written soon. Throws VALIDATION_FAILED with the field that is wrong, and TOO_MANY_EXPORTS when
   * the account has MOST_OPEN_EXPORTS that are not written yet.
   */
  create(job: Job, spec: ExportSpec, id: ExportId): Promise<Export>;
  /** Throws what `create` throws for the spec by itself. */
  verify(spec: ExportSpec, account: AccountId): Promise<void>;
  get(account: AccountId, id: string): Promise<Export>;
  list(query: ExportQuery): Promise<ListPage<Export>>;
  /** Deletes the export and its file; links to it end. */
  delete(account: AccountId, id: string): Promise<void>;
  /** The export that a signed link leads to. Throws NOT_FOUND for a link that is not right, FORBIDDEN for one that is over. */
  linked(id: string, link: { readonly expires: number; readonly signature: string }): Promise<Export>;
  /** The bytes of the file. Throws CONFLICT when it is not ready, NOT_FOUND when the file is gone. */
  read(of: Export, range?: ByteRange): Promise<AsyncIterable<Uint8Array>>;
}

/** What an account may ask for at a time. Exports that jobs ask for at their end count, and are never refused. */
export const MOST_OPEN_EXPORTS = 100;
const RETRY_AFTER_MS = 10_000;

interface ExportsDeps {
  readonly store: Pick<
    ExportStore,
    'createExport' | 'countOpenExports' | 'getExport' | 'findExport' | 'listExports' | 'deleteExport'
  >;
  readonly jobs: Pick<Jobs, 'get' | 'requireRoom'>;
  readonly files: Files;
  readonly places: ExportPlaces;
  readonly now: () => number;
}

/** A job that was cancelled has none: it is resumed, or of no use. */
const ENDS: ReadonlySet<string> = new Set(JOB_END_EVENTS.filter((type) => type !== 'job.cancelled'));

export function createExports({ store, jobs, files, places, now }: ExportsDeps): Exports {
  const isId = (id: string): id is ExportId => /^exp_[0-9a-f-]{1,64}$/.test(id);

  async function get(account: AccountId, id: string): Promise<Export> {
    const found = isId(id) ? await store.getExport(account, id) : null;
    if (found === null) throw noExport(id);
    return found;
  }

  async function verify(spec: ExportSpec, account: AccountId): Promise<void> {
    const { type, format, against, rules, excel, text, to } = spec;
    const refuse = (field: string, message: string): never => {
      throw invalidRequest([{ field, message }]);
    };
    const refusal = formatProblem(spec);
    if (refusal !== null) refuse('format', refusal);
    if (type === 'diff' && against === undefined) refuse('against', 'A diff needs the job to compare with.');
    if (type !== 'diff' && against !== undefined) refuse('against', 'Only for type "diff".');
    if (type !== 'diff' && rules !== undefined) refuse('rules', 'Only for type "diff".');
    if (excel !== undefined && !EXCEL_FORMATS.includes(format)) {
      refuse('excel', `Only for format ${EXCEL_FORMATS.map((name) => `"${name}"`).join(' or ')}.`);
    }
    if (text !== undefined && type !== 'results') refuse('text', 'Only for type "results".');
    if (against !== undefined) {
      const other = await jobs
        .get(against, account)
        .catch(() => refuse('against', `There is no job ${against}.`));
      requireLedger(other);
    }
    if (to !== undefined && targetPlace(to, places) === null) {
      refuse('to', 'The operator has not allowed this place: see SCRAPIFIE_EXPORT_PLACES.');
    }
  }

  return {
    verify,
    async create(job, spec, id) {
      requireLedger(job);
      await verify(spec, job.accountId);
      jobs.requireRoom();
      const { accountId, id: jobId } = job;
      // Requests that come together may exceed the limit by their number.
      const open = await store.countOpenExports(accountId);
      if (open >= MOST_OPEN_EXPORTS && (await store.getExport(accountId, id)) === null) throw tooMany();
      const made = await store.createExport({ id, accountId, jobId, spec, secret: newSecret() });
      if (made === null) throw new ScrapifieError('NOT_FOUND', `There is no job ${jobId}.`);
      return made;
    },
    get,
    list: (query) => store.listExports(query),
    async delete(account, id) {
      const gone = isId(id) ? await store.deleteExport(account, id) : null;
      if (gone === null) throw noExport(id);
      // A file that cannot be removed now is removed by the sweep, because nothing refers to it any more.
      await removeFiles(gone, files).catch(() => undefined);
    },
    async linked(id, link) {
      const found = isId(id) ? await store.findExport(id) : null;
      const state = found === null ? 'wrong' : checkLink(found, link, now());
      if (found === null || state === 'wrong') throw noExport(id);
      if (state === 'expired') {
        throw new ScrapifieError(
          'FORBIDDEN',
          'The link has expired. Ask for the export again: its answer has a new one.',
        );
      }
      return found;
    },
    async read(of, range) {
      if (of.status === 'failed') {
        throw new ScrapifieError(
          'CONFLICT',
          `The export failed: ${of.error?.message ?? 'no reason is known'}`,
        );
      }
      if (of.status !== 'ready') {
        throw new ScrapifieError(
          'CONFLICT',
          'The export is not ready yet. Ask again when its status is "ready".',
        );
      }
      const name = fileOf(of);
      if (!(await files.has(name))) {
        throw new ScrapifieError(
          'NOT_FOUND',
          'The file of the export is gone. Make a new export of the job.',
        );
      }
      return files.read(name, range);
    },
  };
}

const noExport = (id: string) => new ScrapifieError('NOT_FOUND', `There is no export ${id.slice(0, 100)}.`);

const tooMany = () =>
  new ScrapifieError(
    'TOO_MANY_EXPORTS',
    `${MOST_OPEN_EXPORTS} exports of this account wait or are being written. Ask again when some are ready, or delete some.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );

interface JobEndParts {
  readonly store: Pick<Store, 'getJob' | 'createExport' | 'advanceReader'>;
  readonly bus: Pick<Bus, 'publish'>;
}

/**
 * Makes the exports that a job asks for at its end. Their ids come from the event, so that an event which is read twice
 * makes them once; a job that is resumed ends again, and gets new ones.
 */
export function exportsAtJobEnd({ store, bus }: JobEndParts) {
  return async (events: readonly StoredEvent[], range: ReaderRange): Promise<boolean> => {
    let made = 0;
    for (const { id: eventId, type, jobId } of events) {
      const job = jobId === null || !ENDS.has(type) ? null : await store.getJob(jobId);
      for (const [at, spec] of (job?.options.exports ?? []).entries()) {
        if (job === null) continue;
        const id = exportIdFor(`${eventId}:${at}`);
        const { accountId, id: of } = job;
        await store.createExport({ id, accountId, jobId: of, spec, secret: newSecret() });
        made += 1;
      }
    }
    if (made > 0) bus.publish('export.created', {});
    return store.advanceReader('exports', range);
  };
}

function exportIdFor(text: string): ExportId {
  const hex = createHash('sha256').update(text).digest('hex');
  return `exp_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}` as ExportId;
}

const targetSchema = z
  .union([
    z.strictObject({ folder: z.string().min(1).max(1_000) }).meta({ id: 'ExportToFolder' }),
    z
      .strictObject({
        s3: z
          .string()
          .regex(/^s3:\/\/[^/]+/, 's3://bucket/path')
          .max(1_000),
      })
      .meta({ id: 'ExportToS3' }),
  ])
  .describe(
    'A place of the operator that gets a copy as well: one that `SCRAPIFIE_EXPORT_PLACES` names, or a folder in it.',
  );

const namesOf = (formats: readonly ExportFormat[]): string =>
  formats
    .map((format) => {
      const { about } = exportFormatSpec(format);
      return `\`${format}\`${about === undefined ? '' : ` (${about})`}`;
    })
    .join(' ');

/** What a client asks for. Which types and formats go together is looked at after. */
export const exportRequestSchema = z
  .strictObject({
    type: z
      .enum(EXPORT_TYPES)
      .describe(EXPORT_TYPES.map((type) => `\`${type}\`: ${exportTypeSpec(type).about}.`).join(' ')),
    format: z
      .enum(EXPORT_FORMATS)
      .describe(`${namesOf(TABLE_FORMATS)}: tables. ${namesOf(PAGE_FORMATS)}: of \`${PAGE_TYPE}\` only.`),
    against: z.string().max(64).optional().describe('`diff`: the earlier job to compare with.'),
    rules: diffRulesSchema.optional().describe('`diff`: what counts as a change.'),
    excel: z.boolean().optional().describe('`csv`: begin with a byte order mark, so that Excel reads UTF-8.'),
    text: z.boolean().optional().describe('`results` in a table: a column with the text of each page.'),
    to: targetSchema.optional(),
  })
  .meta({ id: 'ExportRequest', examples: [{ type: 'full', format: 'csv' }] });

export type ExportRequest = z.infer<typeof exportRequestSchema>;

export const specOf = ({ against, rules, excel, text, to, type, format }: ExportRequest): ExportSpec => ({
  type,
  format,
  ...(against === undefined ? {} : { against: against as JobId }),
  ...defined({ rules, excel, text, to }),
});
