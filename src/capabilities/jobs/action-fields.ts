import { z } from 'zod';
import type { RenderAction } from '../../core/model/render.ts';
import { secretField } from '../sessions/secret-fields.ts';
import {
  checkPicture,
  MAX_WAIT_MS,
  needsSomething,
  pictureFields,
  selector,
  until,
  waitMs,
} from './step-fields.ts';

const MAX_ACTIONS = 100;
const MAX_FILES = 10;
/**
 * The most bytes of all files of a request, decoded: they are stored with the job, and sent to the process that
 * renders.
 */
const MAX_FILE_BYTES = 2_097_152;

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
