import { EXPORT_FORMATS, EXPORT_TYPES } from '../../api/choices.ts';
import type { Body } from '../../api/types.ts';

export type ExportRequest = Body<'createExport'>;
export type ExportType = ExportRequest['type'];
export type ExportFormat = ExportRequest['format'];

export const FORMAT_NAMES = Object.fromEntries(
  EXPORT_FORMATS.map(({ value, label }) => [value, label]),
) as Readonly<Record<ExportFormat, string>>;

/** The formats that a type can be written in. */
export const formatsOf = (type: ExportType): readonly ExportFormat[] =>
  EXPORT_FORMATS.filter(({ takes }) => takes === 'rows' || type === 'raw').map(({ value }) => value);

/** Whether a file in the format can begin with the mark by which Excel knows UTF-8. */
export const isExcelFormat = (format: ExportFormat): boolean =>
  EXPORT_FORMATS.some(({ value, isForExcel }) => value === format && isForExcel);

/** The types that a job can be asked for before it has begun. */
export const JOB_EXPORT_TYPES = EXPORT_TYPES.filter(({ isOfTwoJobs }) => !isOfTwoJobs);
