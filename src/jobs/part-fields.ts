import { z } from 'zod';
import { PDF_LIMITS } from '../extract/documents/document-limits.ts';
import { compileSelector } from '../extract/rules/css/compile-selector.ts';
import { RULE_LIMITS } from '../extract/rules/rule-limits.ts';
import { RuleSyntaxError } from '../extract/rules/rule-problem.ts';
import type { PartOptions } from '../model/extraction.ts';

const MOST_SELECTORS = 50;

/** Selectors are compiled here, so that bad ones are refused before anything is fetched. */
const selectors = z
  .array(z.string().min(1).max(RULE_LIMITS.selectorChars))
  .max(MOST_SELECTORS)
  .superRefine((given, context) => {
    for (const [index, selector] of given.entries()) {
      const message = selectorProblem(selector);
      if (message !== null) context.addIssue({ code: 'custom', path: [index], message });
    }
  })
  .default([]);

function selectorProblem(selector: string): string | null {
  try {
    compileSelector(selector);
    return null;
  } catch (error) {
    if (!(error instanceof RuleSyntaxError)) throw error;
    return error.position === null ? error.message : `column ${error.position + 1}: ${error.message}`;
  }
}

/** The fields that say how much of a page is read, and which part of it its `text`, `markdown`, `content` and `html` are of. */
export const partFields = {
  onlyMainContent: z
    .boolean()
    .default(true)
    .describe('`false`: `text`, `markdown` and `content` are of the whole page, navigation included.'),
  includeTags: selectors
    .describe('CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.')
    .meta({ examples: [['main', '.reviews']] }),
  excludeTags: selectors
    .describe('CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.')
    .meta({ examples: [['.advertisement', 'footer']] }),
  maxPdfPages: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(PDF_LIMITS.pages)
    .describe('Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.'),
};

type PartRequest = Partial<z.output<z.ZodObject<typeof partFields>>>;

/** Empty for the main content and the usual number of pages, which are the defaults. */
export function partsOf({
  onlyMainContent: onlyMain = true,
  includeTags = [],
  excludeTags = [],
  maxPdfPages = PDF_LIMITS.pages,
}: PartRequest): { readonly parts?: PartOptions; readonly maxPdfPages?: number } {
  const isDefault = onlyMain && includeTags.length === 0 && excludeTags.length === 0;
  return {
    ...(isDefault ? {} : { parts: { onlyMain, includeTags, excludeTags } }),
    ...(maxPdfPages === PDF_LIMITS.pages ? {} : { maxPdfPages }),
  };
}
