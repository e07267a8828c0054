import { z } from 'zod';
import type { RenderAction, ScreenshotOptions } from '../../../core/model/render.ts';
import { secretField } from '../../sessions/secret-fields.ts';

const MAX_ACTIONS = 100;
const MAX_FILES = 10;
/**
 * The most bytes of all files of a request, decoded: they are stored with the job, and sent to the process that
 * renders.
 */
const MAX_FILE_BYTES = 2_097_152;

const MAX_WAIT_MS = 240_000;

const timed = {
  timeoutMs: z
    .number()
    .int()
    .min(100)
    .max(MAX_WAIT_MS)
    .optional()
    .describe('Time for this step; 10 s unless given.'),
};

const file = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(255)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a file name has none
    .regex(/^[^/\\\x00-\x1f]+$/, 'A file name without folders.'),
  contentType: z.string().max(255).optional().describe('`application/octet-stream` unless given.'),
  base64: z
    .base64()
    .max(Math.ceil(MAX_FILE_BYTES / 3) * 4)
    .describe('The bytes of the file.'),
});

const selector = z.string().min(1).max(1_000).describe('A CSS selector, or one of Playwright’s.');
const waitMs = z.number().int().min(0).max(MAX_WAIT_MS);
export const UNTIL = ['load', 'domcontentloaded', 'networkidle'] as const;
const until = z.enum(UNTIL).describe('How far the page must have loaded.');

const pictureFields = {
  fullPage: z.boolean().optional().describe('The whole page instead of what a window shows.'),
  selector: selector.optional().describe('Only the first element that matches.'),
  format: z.enum(['png', 'jpeg']).optional().describe('png unless given.'),
  quality: z.number().int().min(0).max(100).optional().describe('Of a jpeg.'),
};

const action = z
  .discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('click'), selector, ...timed }),
      z.strictObject({ type: z.literal('hover'), selector, ...timed }),
      z
        .strictObject({ type: z.literal('back'), ...timed })
        .describe('To the page that an earlier action left.'),
      z.strictObject({
        type: z.literal('upload'),
        selector: selector.describe('An `<input type="file">`.'),
        files: secretField('page.actions.files', z.array(file).min(1).max(MAX_FILES)),
        ...timed,
      }),
      z.strictObject({
        type: z.literal('type'),
        selector,
        text: secretField('page.actions.text', z.string().max(10_000)),
        ...timed,
      }),
      z.strictObject({
        type: z.literal('press'),
        key: z.string().min(1).max(50).describe('`Enter`, `a`, `Control+A` …'),
        selector: selector.optional().describe('Where; else wherever the focus is.'),
        ...timed,
      }),
      z.strictObject({
        type: z.literal('select'),
        selector,
        value: secretField(
          'page.actions.value',
          z.string().max(1_000).describe('Value or label of the option.'),
        ),
        ...timed,
      }),
      z
        .strictObject({
          type: z.literal('wait'),
          selector: selector.optional(),
          ms: waitMs.optional(),
          until: until.optional(),
          ...timed,
        })
        .superRefine(needsSomething),
      z
        .strictObject({
          type: z.literal('scroll'),
          selector: selector.optional().describe('Until this element is in sight.'),
          pixels: z
            .number()
            .int()
            .min(-1_000_000)
            .max(1_000_000)
            .optional()
            .describe('Else one screen down.'),
          ...timed,
        })
        .superRefine((given, context) => {
          if (given.selector === undefined || given.pixels === undefined) return;
          context.addIssue({
            code: 'custom',
            path: ['pixels'],
            message: 'Give `selector` or `pixels`, not both.',
          });
        }),
      z.strictObject({
        type: z.literal('evaluate'),
        script: secretField(
          'page.actions.script',
          z
            .string()
            .min(1)
            .max(100_000)
            .describe(
              'JavaScript: an expression, or the body of a function with `return` and `await`. Its value is in the answer.',
            ),
        ),
        ...timed,
      }),
      z.strictObject({ type: z.literal('screenshot'), ...pictureFields, ...timed }).superRefine(checkPicture),
    ],
    {
      error:
        'Must be an object with `type` click, hover, back, upload, type, press, select, wait, scroll, evaluate or screenshot.',
    },
  )
  .meta({ id: 'PageAction' });

export const actions = z
  .array(action)
  .max(MAX_ACTIONS)
  .superRefine(checkFiles)
  .default([])
  .describe(
    'What to do on the page, in this order, before it is read. The first step that fails ends them, is named by the ' +
      'error, and what there was by then is kept. Needs a browser.',
  )
  .meta({
    examples: [
      [
        { type: 'click', selector: '#more' },
        { type: 'wait', selector: '.item:nth-child(20)' },
      ],
    ],
  });

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

export const screenshot = z
  .strictObject(pictureFields)
  .superRefine(checkPicture)
  .meta({ id: 'PageScreenshot' })
  .nullable()
  .default(null)
  .describe('How the picture is taken; asks for the format `screenshot` as well. Needs a browser.')
  .meta({ examples: [{ fullPage: true }] });

function checkFiles(given: readonly RenderAction[], context: z.core.$RefinementCtx): void {
  let bytes = 0;
  for (const [at, each] of given.entries()) {
    if (each.type !== 'upload') continue;
    for (const [index, { base64 }] of each.files.entries()) {
      bytes += Buffer.byteLength(base64, 'base64');
      if (bytes <= MAX_FILE_BYTES) continue;
      const message = `All files together may have ${MAX_FILE_BYTES} bytes.`;
      context.addIssue({ code: 'custom', path: [at, 'files', index, 'base64'], message });
      return;
    }
  }
}

function needsSomething(
  given: { selector?: string | undefined; ms?: number | undefined; until?: string | undefined },
  context: z.core.$RefinementCtx,
): void {
  if (given.selector !== undefined || given.ms !== undefined || given.until !== undefined) return;
  context.addIssue({ code: 'custom', message: 'Give `selector`, `ms` or `until`.' });
}

function checkPicture(given: ScreenshotOptions, context: z.core.$RefinementCtx): void {
  if (given.fullPage === true && given.selector !== undefined) {
    context.addIssue({ code: 'custom', path: ['fullPage'], message: 'An element is not the whole page.' });
  }
  if (given.quality !== undefined && given.format !== 'jpeg') {
    context.addIssue({ code: 'custom', path: ['quality'], message: 'Only a jpeg has a quality.' });
  }
}
