import { z } from 'zod';
import { readPairs } from './name-value-list.ts';

const pairs = z
  .string()
  .refine((text) => readPairs(text) !== null, 'must be name=value pairs, separated by commas')
  .default('');

/** Where spans are sent, and how many; see docs/tracing.md. */
export const tracingSettings = {
  otelUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'OpenTelemetry receiver that spans are sent to, by OTLP over HTTP, such as `http://127.0.0.1:4318`; without it there are none.',
    ),
  otelHeaders: pairs.describe(
    'Headers for that receiver, `name=value` with commas between them, values percent-encoded.',
  ),
  otelServiceName: z
    .string()
    .min(1)
    .max(255)
    .default('scrapifie')
    .describe('Name of this installation among the services of the receiver.'),
  otelAttributes: pairs.describe(
    'Facts about this process for the receiver, such as `deployment.environment.name=staging`, written like the headers.',
  ),
  traceRatio: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe('Share of the requests and jobs that are traced, where their caller does not say so itself.'),
  traceAttempts: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(1_000)
    .describe('Attempts at pages of one job that are traced in one process; later ones have no spans.'),
  traceQueue: z.coerce
    .number()
    .int()
    .min(512)
    .max(1_000_000)
    .default(4_096)
    .describe('Spans that may wait for the receiver; further ones are dropped.'),
};
