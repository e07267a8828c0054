import { z } from 'zod';
import type { ScreenshotOptions } from '../../core/model/render.ts';

export const MAX_WAIT_MS = 240_000;

export const selector = z.string().min(1).max(1_000).describe('A CSS selector, or one of Playwright’s.');
export const waitMs = z.number().int().min(0).max(MAX_WAIT_MS);
export const UNTIL = ['load', 'domcontentloaded', 'networkidle'] as const;
export const until = z.enum(UNTIL).describe('How far the page must have loaded.');

export const wait = z
  .strictObject({
    selector: selector.optional().describe('Until an element matches.'),
    ms: waitMs.optional().describe('So long, after everything else that is waited for.'),
    until: until.optional(),
  })
  .superRefine(needsSomething)
  .meta({ id: 'PageWait' })
  .nullable()
  .default(null)
  .describe('What to wait for before the page is read. Needs a browser.')
  .meta({ examples: [{ selector: '#results' }] });

export const scroll = z
  .union([
    z.boolean(),
    z
      .strictObject({
        maxSteps: z
          .number()
          .int()
          .min(1)
          .max(1_000)
          .optional()
          .describe('Screens to go at most; 20 unless given.'),
        pauseMs: z
          .number()
          .int()
          .min(0)
          .max(10_000)
          .optional()
          .describe('Pause after each; 150 unless given.'),
      })
      .meta({ id: 'PageScroll' }),
  ])
  .nullable()
  .default(null)
  .describe(
    'Go down the page until it grows no more, for lists that load on the way. Needs a browser. Unless given, a page that is ' +
      'rendered for the types `job_posting` and `linkedin_profile` is scrolled a little.',
  );

export const pictureFields = {
  fullPage: z.boolean().optional().describe('The whole page instead of what a window shows.'),
  selector: selector.optional().describe('Only the first element that matches.'),
  format: z.enum(['png', 'jpeg']).optional().describe('png unless given.'),
  quality: z.number().int().min(0).max(100).optional().describe('Of a jpeg.'),
};

export const screenshot = z
  .strictObject(pictureFields)
  .superRefine(checkPicture)
  .meta({ id: 'PageScreenshot' })
  .nullable()
  .default(null)
  .describe('How the picture is taken; asks for the format `screenshot` as well. Needs a browser.')
  .meta({ examples: [{ fullPage: true }] });

export function needsSomething(
  given: { selector?: string | undefined; ms?: number | undefined; until?: string | undefined },
  context: z.core.$RefinementCtx,
): void {
  if (given.selector !== undefined || given.ms !== undefined || given.until !== undefined) return;
  context.addIssue({ code: 'custom', message: 'Give `selector`, `ms` or `until`.' });
}

export function checkPicture(given: ScreenshotOptions, context: z.core.$RefinementCtx): void {
  if (given.fullPage === true && given.selector !== undefined) {
    context.addIssue({ code: 'custom', path: ['fullPage'], message: 'An element is not the whole page.' });
  }
  if (given.quality !== undefined && given.format !== 'jpeg') {
    context.addIssue({ code: 'custom', path: ['quality'], message: 'Only a jpeg has a quality.' });
  }
}
