import { z } from 'zod';
import type { PartOptions } from '../../../core/model/extraction.ts';
import { kindsWith } from '../../../core/model/job-kinds.ts';
import type { PageOption } from '../../../core/model/page-option.ts';
import { PDF_LIMITS } from '../../../extract/documents/document-limits.ts';
import { compileSelector } from '../../../extract/rules/css/compile-selector.ts';
import { RULE_LIMITS, RuleSyntaxError } from '../../../extract/rules/rule-text.ts';

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

const KEEPS_PAGES = kindsWith({ isListOfUrls: false });

/** The options that say how much of a page is read, and which part of it its `text`, `markdown`, `content` and `html` are of. */
export const partOptions = {
  onlyMainContent: {
    schema: z
      .boolean()
      .default(true)
      .describe('`false`: `text`, `markdown` and `content` are of the whole page, navigation included.'),
    requests: KEEPS_PAGES,
    stored: 'parts.onlyMain',
    flagsOf: 'part',
    flags: {
      onlyMainContent: {
        flag: '--no-only-main-content',
        says: 'text, markdown and content of the whole page, navigation included',
        unstored: true,
      },
    },
    form: [{ group: 'get', isMain: true, label: 'Main content only', kind: 'off' }],
  },
  includeTags: {
    schema: selectors
      .describe('CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.')
      .meta({ examples: [['main', '.reviews']] }),
    requests: KEEPS_PAGES,
    stored: 'parts.includeTags',
    flagsOf: 'part',
    flags: {
      includeTags: {
        flag: '--include-tags <selector>',
        says: 'text, markdown, content and html of the elements that match only; repeatable',
        reads: 'each',
        unstored: [],
      },
    },
    form: [
      {
        group: 'get',
        label: 'Only these elements',
        kind: 'lines',
        hint: 'CSS selectors, one per line.',
        placeholder: 'main\n.reviews',
      },
    ],
  },
  excludeTags: {
    schema: selectors
      .describe(
        'CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.',
      )
      .meta({ examples: [['.advertisement', 'footer']] }),
    requests: KEEPS_PAGES,
    stored: 'parts.excludeTags',
    flagsOf: 'part',
    flags: {
      excludeTags: {
        flag: '--exclude-tags <selector>',
        says: 'remove the elements that match before anything else; repeatable',
        reads: 'each',
        unstored: [],
      },
    },
    form: [
      {
        group: 'get',
        label: 'Without these elements',
        kind: 'lines',
        hint: 'CSS selectors, one per line.',
        placeholder: '.advertisement\nfooter',
      },
    ],
  },
  maxPdfPages: {
    schema: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .default(PDF_LIMITS.pages)
      .describe('Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.'),
    requests: KEEPS_PAGES,
    flagsOf: 'part',
    flags: {
      maxPdfPages: {
        flag: '--max-pdf-pages <n>',
        says: `pages that are read of a PDF (default: ${PDF_LIMITS.pages})`,
        reads: 'whole-number',
      },
    },
    form: [{ group: 'get', isMain: true, label: 'Pages of a PDF', kind: 'number', placeholder: '500' }],
  },
} as const satisfies Readonly<Record<string, PageOption>>;

/** The options of parts, as fields of a request. */
export const partFields = {
  onlyMainContent: partOptions.onlyMainContent.schema,
  includeTags: partOptions.includeTags.schema,
  excludeTags: partOptions.excludeTags.schema,
  maxPdfPages: partOptions.maxPdfPages.schema,
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
