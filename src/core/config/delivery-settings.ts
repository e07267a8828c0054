import { z } from 'zod';

/** How webhooks are sent; see docs/webhooks.md. */
export const deliverySettings = {
  smtpUrl: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe('Server that sends e-mail of webhooks, `smtp://user:password@host:587`, or `smtps://`.'),
  smtpFrom: z
    .string()
    .min(3)
    .max(320)
    .regex(/^\P{Cc}*$/u, 'Must have no control characters and no line breaks.')
    .optional()
    .describe('Sender of these e-mails, such as `Scrapifie <bot@example.com>`.'),
  mailAllowed: z
    .string()
    .max(10_000)
    .default('')
    .describe(
      'Addresses and domains that webhooks may send e-mail to without a confirmation, separated by commas: `ops@example.com,example.org`. The owners of all others get a link first.',
    ),
  deliveryDays: z.coerce
    .number()
    .int()
    .min(1)
    .max(3_650)
    .default(30)
    .describe('Days for which ended deliveries of webhooks are kept.'),
};
