import { z } from 'zod';
import type { ExportSpec } from '../../core/model/export.ts';
import {
  EXPORT_FORMATS,
  EXPORT_TYPES,
  type ExportFormat,
  exportFormatSpec,
  exportTypeSpec,
  PAGE_FORMATS,
  PAGE_TYPE,
  TABLE_FORMATS,
} from '../../core/model/export-registry.ts';
import type { JobId } from '../../core/model/ids.ts';
import { diffRulesSchema } from '../../extract/diff/diff-rules.ts';
import { defined } from '../../lib/defined.ts';

const targetSchema = z
  .union([
    z.strictObject({ folder: z.string().min(1).max(1_000) }),
    z.strictObject({
      s3: z
        .string()
        .regex(/^s3:\/\/[^/]+/, 's3://bucket/path')
        .max(1_000),
    }),
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
