import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { startOtlpReceiver } from '../../test/tracing/otlp-receiver.ts';
import { settingsSchema } from '../core/config/settings.ts';
import { createLogger } from '../core/observe/logger.ts';
import { activeSpanIds, endWith, isTracing, startSpan } from '../core/tracing/tracing.ts';
import { openTracing } from './open-tracing.ts';

function recordLog() {
  const lines: { msg: string; dropped?: number; receiver?: string }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { logger: createLogger({ level: 'info', destination }), lines };
}

const settingsFor = (otelUrl: string) => settingsSchema.parse({ otelUrl, traceRatio: 1, traceQueue: 512 });

/** Starts and ends as many spans; more than a batch are sent at once. */
function makeSpans(count: number): void {
  for (let made = 0; made < count; made += 1) startSpan('test')?.end();
}

describe('tracing', () => {
  it('is off without a receiver, and spans are none', async () => {
    const { logger, lines } = recordLog();
    expect(await openTracing(settingsSchema.parse({}), 'one', logger)).toBeNull();
    expect([isTracing(), startSpan('test'), activeSpanIds()]).toEqual([false, null, null]);
    expect(lines).toEqual([]);
  });

  it('sends what waits when it is closed by the last that has it open', async () => {
    const receiver = await startOtlpReceiver();
    const { logger } = recordLog();
    const [first, second] = await Promise.all([
      openTracing(settingsFor(receiver.url), 'one', logger),
      openTracing(settingsFor(receiver.url), 'two', logger),
    ]);
    await first?.close();
    const span = startSpan('late');
    expect(span).not.toBeNull();
    if (span !== null) {
      const { traceId, spanId } = span.spanContext();
      await endWith(span, async () => {
        await Promise.resolve();
        expect(activeSpanIds()).toEqual({ traceId, spanId, isSampled: true });
      });
    }
    expect(activeSpanIds()).toBeNull();
    await second?.close();
    expect(receiver.spans.map(({ name }) => name)).toEqual(['late']);
    expect(isTracing()).toBe(false);
    await receiver.close();
  });

  it('loses spans and nothing else when the receiver refuses them, and says so once', async () => {
    let status = 400;
    const server = createServer((_, response) => response.writeHead(status).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { logger, lines } = recordLog();
    const told = (message: string) => lines.filter(({ msg }) => msg === message);
    const tracing = await openTracing(settingsFor(`http://me:hush@127.0.0.1:${port}`), 'one', logger);
    const REFUSED = 'tracing: the receiver takes no spans';
    const TAKEN = 'tracing: the receiver takes spans again';
    makeSpans(2_000);
    await vi.waitFor(() => expect(told(REFUSED)).toHaveLength(1), { timeout: 20_000 });
    status = 200;
    await vi.waitFor(
      () => {
        makeSpans(512);
        expect(told(TAKEN)).toHaveLength(1);
      },
      { timeout: 20_000 },
    );
    expect(told(REFUSED)).toHaveLength(1);
    expect(told(TAKEN)[0]?.dropped).toBeGreaterThanOrEqual(512);
    expect(JSON.stringify(lines)).not.toContain('hush');
    await tracing?.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('does not keep a process from ending when nobody listens', async () => {
    const { logger, lines } = recordLog();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const tracing = await openTracing(settingsFor(`http://127.0.0.1:${port}`), 'one', logger);
    makeSpans(1);
    await tracing?.close();
    expect(lines.map(({ msg }) => msg)).toContain('tracing: the receiver takes no spans');
  });
});
