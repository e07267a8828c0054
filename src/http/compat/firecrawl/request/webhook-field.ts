import { z } from 'zod';
import { webhookHeadersField } from '../../../../capabilities/jobs/webhook-fields.ts';
import { secretField } from '../../../../capabilities/sessions/secret-fields.ts';

const EVENTS = ['started', 'page', 'completed', 'failed'] as const;

/** The address alone, or an object with it. `secret` is no field of the vendor's: it signs the messages of this job. */
export const webhookField = z
  .preprocess(
    (given) => (typeof given === 'string' ? { url: given } : given),
    z
      .strictObject({
        url: z.string().min(1).max(2_048),
        headers: webhookHeadersField.default({}),
        metadata: z.record(z.string(), z.unknown()).default({}),
        events: z
          .array(z.enum(EVENTS))
          .min(1)
          .default([...EVENTS]),
        secret: secretField('webhook.secret', z.string().min(1).max(200)).optional(),
      })
      .optional(),
  )
  .optional();

export type Webhook = NonNullable<z.output<typeof webhookField>>;
