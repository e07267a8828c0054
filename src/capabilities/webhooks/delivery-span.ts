import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { Delivery } from '../../core/ports/webhook-store.ts';
import { endWith, sampledContext, serverAttributes, startSpan } from '../../core/tracing/tracing.ts';
import { type Outgoing, type SenderParts, type SentAttempt, sendAttempt } from './send-attempt.ts';

/** Makes one attempt at a delivery, in a span of the trace of its job where that has one. */
export function sendInSpan(
  { attempts }: Pick<Delivery, 'attempts'>,
  outgoing: Outgoing,
  sender: SenderParts,
): Promise<SentAttempt> {
  const { webhook, event, data, contents } = outgoing;
  const parent = sampledContext(contents.job?.options.traceParent);
  if (parent === null) return sendAttempt(outgoing, sender);
  const attributes = {
    'scrapifie.job.id': event.jobId ?? '',
    'scrapifie.event.type': event.type,
    'scrapifie.webhook.id': webhook.id,
    'scrapifie.webhook.format': webhook.format,
    'scrapifie.attempt': attempts + 1,
    // The span names no e-mail address and no address of a plug-in, since both may be private.
    ...(data.url.startsWith('http') ? serverAttributes(data.url) : {}),
  };
  const span = startSpan(`deliver ${event.type}`, { kind: SpanKind.CLIENT, attributes }, parent);
  if (span === null) return sendAttempt(outgoing, sender);
  return endWith(span, async () => {
    const sent = await sendAttempt(outgoing, sender);
    const { statusCode } = sent.record;
    if (statusCode !== null) span.setAttribute('http.response.status_code', statusCode);
    span.setAttribute('scrapifie.outcome', sent.result);
    if (sent.result !== 'delivered') span.setStatus({ code: SpanStatusCode.ERROR });
    return sent;
  });
}
