import type { ErrorCode } from '../errors/registry.ts';
import { type ExportFormat, type ExportType, PAGE_FORMATS, PAGE_TYPE } from './export-registry.ts';
import type { AccountId, ExportId, JobId } from './ids.ts';

/** Why the type cannot be had in the format; null when it can. */
export function formatProblem({ type, format }: Pick<ExportSpec, 'type' | 'format'>): string | null {
  if (!PAGE_FORMATS.includes(format) || type === PAGE_TYPE) return null;
  return `The format "${format}" holds whole pages: ask for it with type "${PAGE_TYPE}".`;
}

/** What is to be exported, and how. Plain JSON: stored with the export. */
export interface ExportSpec {
  readonly type: ExportType;
  readonly format: ExportFormat;
  /** `diff`: the earlier job that this one is compared with. */
  readonly against?: JobId | undefined;
  /** `diff`: what counts as a change; see the rules of diffs. */
  readonly rules?: unknown;
  /** `csv`: begins with a byte order mark, by which Excel knows that the file is UTF-8. */
  readonly excel?: boolean | undefined;
  /** `results` in a table: a column with the text of each page. */
  readonly text?: boolean | undefined;
  /** A place of the operator's that gets a copy. */
  readonly to?: ExportTarget | undefined;
}

export type ExportTarget = { readonly folder: string } | { readonly s3: string };

/**
 * pending  waits for a process that writes it
 * running  is being written; begins anew when the process dies
 * ready    the file is there
 * failed   given up; `error` says why
 */
export const EXPORT_STATUSES = ['pending', 'running', 'ready', 'failed'] as const;
export type ExportStatus = (typeof EXPORT_STATUSES)[number];

export interface NewExport {
  readonly id: ExportId;
  readonly accountId: AccountId;
  readonly jobId: JobId;
  readonly spec: ExportSpec;
  /** Signs the links to the file. Deleting the export ends all of them. */
  readonly secret: string;
}

export interface Export extends NewExport {
  readonly status: ExportStatus;
  /** How often it was begun; part of the name of the file. */
  readonly attempts: number;
  /** How many of them failed, or ended with their process. */
  readonly failures: number;
  /** Written so far; all of them once it is ready. */
  readonly rows: number;
  readonly sizeBytes: number;
  /** SHA-256 of the file, in hex; null until the file is ready. */
  readonly sha256: string | null;
  readonly error: ExportError | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

export interface ExportError {
  readonly code: ErrorCode;
  readonly message: string;
}
