import { z } from 'zod';
import type { ReadOptions } from '../../../crawl/read/page-reading.ts';
import { extractField } from './extract-fields.ts';
import { SCRAPE_FORMATS } from './job-request.ts';
import { READ_FORMATS } from './page-options.ts';
import { partFields, partsOf } from './part-fields.ts';

const formats = z
  .array(z.enum(READ_FORMATS))
  .max(READ_FORMATS.length)
  .describe('Formats to extract; screenshots, PDFs and XHR require a fetch.');

export const extractRequestSchema = z
  .strictObject({
    html: z.string().describe('The page, or any other text that `contentType` names.'),
    url: z
      .string()
      .min(1)
      .max(8_192)
      .describe('Where it is from: what its links are relative to. Nothing is fetched.')
      .meta({ examples: ['https://example.com/'] }),
    contentType: z
      .string()
      .min(1)
      .max(200)
      .default('text/html')
      .describe('What `html` is, e.g. `application/json`.'),
    formats: formats.default([...SCRAPE_FORMATS]),
    extract: extractField,
    ...partFields,
  })
  .meta({
    id: 'ExtractRequest',
    examples: [
      {
        html: '<h1>Hat</h1>',
        url: 'https://example.com/',
        formats: ['markdown'],
        extract: { type: 'product' },
      },
    ],
  });

export const reextractRequestSchema = z
  .strictObject({ formats: formats.default([]), extract: extractField, ...partFields })
  .superRefine((given, context) => {
    if (given.extract !== null || given.formats.length > 0) return;
    context.addIssue({ code: 'custom', message: 'Needs `extract` or `formats`.' });
  })
  .meta({ id: 'ReextractRequest', examples: [{ extract: { rules: { title: 'h1' } } }] });

/** What a request asks to be read out of pages. */
export function readOptionsOf(
  request: z.output<typeof extractRequestSchema> | z.output<typeof reextractRequestSchema>,
): ReadOptions {
  return { formats: request.formats, extract: request.extract, ...partsOf(request) };
}
