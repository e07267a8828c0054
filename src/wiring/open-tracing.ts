import { context, DiagLogLevel, diag } from '@opentelemetry/api';
import { readPairs } from '../core/config/field-types.ts';
import type { Settings } from '../core/config/settings.ts';
import type { Logger } from '../core/observe/logger.ts';
import { receiverUrl } from '../core/tracing/otlp-exporter.ts';
import { setTracing } from '../core/tracing/tracing.ts';
import { within } from '../lib/waits.ts';
import { VERSION } from '../version.ts';

/** The sender of this process's spans. */
export interface OpenTracing {
  /** Sends the spans that wait, for a few seconds at most. What the receiver does not take by then is dropped. */
  close(): Promise<void>;
}

type TracingPlace = Pick<
  Settings,
  | 'otelUrl'
  | 'otelHeaders'
  | 'otelServiceName'
  | 'otelAttributes'
  | 'traceRatio'
  | 'traceAttempts'
  | 'traceQueue'
  | 'role'
>;

const BATCH_SPANS = 512;
/** How long spans wait for others to be sent with. */
const BATCH_MS = 2_000;
/** For the last spans of a process. */
const CLOSE_MS = 3_000;
/** Between two log lines about spans that are dropped. */
const QUIET_MS = 60_000;

/** Platforms of this process that have tracing open: there is one sender for all of them, as the first one set it up. */
let users = 0;
let sender: Promise<OpenTracing> | null = null;

/**
 * Turns spans on in this process when the settings name a receiver, and loads the SDK of OpenTelemetry for that. Returns null
 * without a receiver. `instance` names the process.
 */
export async function openTracing(
  settings: TracingPlace,
  instance: string,
  logger: Logger,
): Promise<OpenTracing | null> {
  if (settings.otelUrl === undefined) return null;
  users += 1;
  sender ??= startSender(receiverUrl(settings.otelUrl), settings, instance, logger);
  const { close } = await sender;
  return {
    async close() {
      users -= 1;
      if (users > 0) return;
      sender = null;
      await close();
    },
  };
}

async function startSender(
  url: URL,
  settings: TracingPlace,
  instance: string,
  logger: Logger,
): Promise<OpenTracing> {
  const [sdk, { ProtobufTraceSerializer }, { resourceFromAttributes }, hooks, { createOtlpExporter }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/otlp-transformer'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/context-async-hooks'),
      import('../core/tracing/otlp-exporter.ts'),
    ]);
  const receiver = url.host;
  const exporter = createOtlpExporter({
    url,
    headers: Object.fromEntries(readPairs(settings.otelHeaders) ?? []),
    serialize: (spans) => ProtobufTraceSerializer.serializeRequest(spans),
    onRefused: (reason) => logger.warn({ receiver, reason }, 'tracing: the receiver takes no spans'),
    onTaken: (dropped) => logger.info({ receiver, dropped }, 'tracing: the receiver takes spans again'),
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      ...Object.fromEntries(readPairs(settings.otelAttributes) ?? []),
      'service.name': settings.otelServiceName,
      'service.version': VERSION,
      'service.instance.id': instance,
      'scrapifie.role': settings.role,
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(settings.traceRatio) }),
    spanLimits: { attributeValueLengthLimit: 255, attributeCountLimit: 32 },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: settings.traceQueue,
        maxExportBatchSize: BATCH_SPANS,
        scheduledDelayMillis: BATCH_MS,
      }),
    ],
  });
  const manager = new hooks.AsyncLocalStorageContextManager().enable();
  // A program that uses the library may have one already, which then serves both.
  const isOurs = context.setGlobalContextManager(manager);
  const drops = quiet((message) => logger.warn({ reason: message }, 'tracing: spans were dropped'));
  const ignored = () => undefined;
  diag.setLogger(
    // The exporter tells of failures itself.
    { error: ignored, warn: drops, info: ignored, debug: ignored, verbose: ignored },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setTracing({ tracer: provider.getTracer('scrapifie', VERSION), attemptsPerJob: settings.traceAttempts });
  logger.info({ receiver, ratio: settings.traceRatio }, 'tracing: spans are sent');
  return {
    async close() {
      setTracing(null);
      exporter.hurry();
      await within(CLOSE_MS, provider.shutdown()).catch(() => undefined);
      await exporter.shutdown();
      diag.disable();
      if (isOurs) context.disable();
    },
  };
}

/** Calls it at most once in a while. */
function quiet(tell: (message: string) => void): (message: string) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (message) => {
    if (performance.now() - toldAt < QUIET_MS) return;
    toldAt = performance.now();
    tell(message);
  };
}
