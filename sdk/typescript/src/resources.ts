import { ScrapifieError } from './errors.ts';
import { List } from './lists.ts';
import { pause } from './retries.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { Body, Data, Item, Query } from './types.ts';

const at = (path: string, id: string, rest = ''): string => `${path}/${encodeURIComponent(id)}${rest}`;

export class Schedules {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  create(request: Body<'createSchedule'>, options: CallOptions = {}): Promise<Data<'createSchedule'>> {
    return this.#transport.json({ method: 'POST', path: '/v1/schedules', body: request, ...options });
  }

  list(query?: Query<'listSchedules'>, options: CallOptions = {}): List<Item<'listSchedules'>> {
    return new List(this.#transport, '/v1/schedules', query, options);
  }

  get(id: string, options: CallOptions = {}): Promise<Data<'getSchedule'>> {
    return this.#transport.json({ method: 'GET', path: at('/v1/schedules', id), ...options });
  }

  update(
    id: string,
    change: Body<'updateSchedule'>,
    options: CallOptions = {},
  ): Promise<Data<'updateSchedule'>> {
    return this.#transport.json({ method: 'PATCH', path: at('/v1/schedules', id), body: change, ...options });
  }

  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.json({ method: 'DELETE', path: at('/v1/schedules', id), ...options });
  }

  run(id: string, options: CallOptions = {}): Promise<Data<'runSchedule'>> {
    return this.#transport.json({ method: 'POST', path: at('/v1/schedules', id, '/run'), ...options });
  }

  pause(id: string, options: CallOptions = {}): Promise<Data<'pauseSchedule'>> {
    return this.#transport.json({ method: 'POST', path: at('/v1/schedules', id, '/pause'), ...options });
  }

  resume(id: string, options: CallOptions = {}): Promise<Data<'resumeSchedule'>> {
    return this.#transport.json({ method: 'POST', path: at('/v1/schedules', id, '/resume'), ...options });
  }

  runs(
    id: string,
    query?: Query<'listScheduleRuns'>,
    options: CallOptions = {},
  ): List<Item<'listScheduleRuns'>> {
    return new List(this.#transport, at('/v1/schedules', id, '/runs'), query, options);
  }
}

export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  create(request: Body<'createWebhook'>, options: CallOptions = {}): Promise<Data<'createWebhook'>> {
    return this.#transport.json({ method: 'POST', path: '/v1/webhooks', body: request, ...options });
  }

  list(query?: Query<'listWebhooks'>, options: CallOptions = {}): List<Item<'listWebhooks'>> {
    return new List(this.#transport, '/v1/webhooks', query, options);
  }

  get(id: string, options: CallOptions = {}): Promise<Data<'getWebhook'>> {
    return this.#transport.json({ method: 'GET', path: at('/v1/webhooks', id), ...options });
  }

  update(
    id: string,
    change: Body<'changeWebhook'>,
    options: CallOptions = {},
  ): Promise<Data<'changeWebhook'>> {
    return this.#transport.json({ method: 'PATCH', path: at('/v1/webhooks', id), body: change, ...options });
  }

  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.json({ method: 'DELETE', path: at('/v1/webhooks', id), ...options });
  }

  rotate(
    id: string,
    request: Body<'rotateWebhookSecret'>,
    options: CallOptions = {},
  ): Promise<Data<'rotateWebhookSecret'>> {
    return this.#transport.json({
      method: 'POST',
      path: at('/v1/webhooks', id, '/rotate'),
      body: request,
      ...options,
    });
  }

  deliveries(
    id: string,
    query?: Query<'listDeliveries'>,
    options: CallOptions = {},
  ): List<Item<'listDeliveries'>> {
    return new List(this.#transport, at('/v1/webhooks', id, '/deliveries'), query, options);
  }

  redeliver(deliveryId: string, options: CallOptions = {}): Promise<Data<'redeliver'>> {
    return this.#transport.json({
      method: 'POST',
      path: at('/v1/deliveries', deliveryId, '/redeliver'),
      ...options,
    });
  }
}

export class Monitors {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  create(request: Body<'createMonitor'>, options: CallOptions = {}): Promise<Data<'createMonitor'>> {
    return this.#transport.json({ method: 'POST', path: '/v1/monitors', body: request, ...options });
  }

  list(query?: Query<'listMonitors'>, options: CallOptions = {}): List<Item<'listMonitors'>> {
    return new List(this.#transport, '/v1/monitors', query, options);
  }

  get(id: string, options: CallOptions = {}): Promise<Data<'getMonitor'>> {
    return this.#transport.json({ method: 'GET', path: at('/v1/monitors', id), ...options });
  }

  update(
    id: string,
    change: Body<'updateMonitor'>,
    options: CallOptions = {},
  ): Promise<Data<'updateMonitor'>> {
    return this.#transport.json({ method: 'PATCH', path: at('/v1/monitors', id), body: change, ...options });
  }

  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.json({ method: 'DELETE', path: at('/v1/monitors', id), ...options });
  }

  run(id: string, options: CallOptions = {}): Promise<Data<'runMonitor'>> {
    return this.#transport.json({ method: 'POST', path: at('/v1/monitors', id, '/run'), ...options });
  }

  pause(id: string, options: CallOptions = {}): Promise<Data<'pauseMonitor'>> {
    return this.#transport.json({ method: 'POST', path: at('/v1/monitors', id, '/pause'), ...options });
  }

  resume(id: string, options: CallOptions = {}): Promise<Data<'resumeMonitor'>> {
    return this.#transport.json({ method: 'POST', path: at('/v1/monitors', id, '/resume'), ...options });
  }

  changes(
    id: string,
    query?: Query<'listMonitorChanges'>,
    options: CallOptions = {},
  ): List<Item<'listMonitorChanges'>> {
    return new List(this.#transport, at('/v1/monitors', id, '/changes'), query, options);
  }
}

export class Snapshots {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The contents that a URL has had, newest first. */
  list(query: Query<'listPageHistory'>, options: CallOptions = {}): List<Item<'listPageHistory'>> {
    return new List(this.#transport, '/v1/pages', query, options);
  }

  get(id: string, query?: Query<'getSnapshot'>, options: CallOptions = {}): Promise<Data<'getSnapshot'>> {
    return this.#transport.json({ method: 'GET', path: at('/v1/snapshots', id), query, ...options });
  }

  /** What changed from one snapshot to another. */
  diff(
    id: string,
    other: string,
    query?: Query<'diffSnapshots'>,
    options: CallOptions = {},
  ): Promise<Data<'diffSnapshots'>> {
    const path = at('/v1/snapshots', id, `/diff/${encodeURIComponent(other)}`);
    return this.#transport.json({ method: 'GET', path, query, ...options });
  }
}

const EXPORT_POLL_MS = 500;

export class Exports {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Starts to write a file of a job; `wait` waits for it. */
  create(
    jobId: string,
    request: Body<'createExport'>,
    options: CallOptions = {},
  ): Promise<Data<'createExport'>> {
    return this.#transport.json({
      method: 'POST',
      path: at('/v1/jobs', jobId, '/exports'),
      body: request,
      ...options,
    });
  }

  list(query?: Query<'listExports'>, options: CallOptions = {}): List<Item<'listExports'>> {
    return new List(this.#transport, '/v1/exports', query, options);
  }

  get(id: string, options: CallOptions = {}): Promise<Data<'getExport'>> {
    return this.#transport.json({ method: 'GET', path: at('/v1/exports', id), ...options });
  }

  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.json({ method: 'DELETE', path: at('/v1/exports', id), ...options });
  }

  /** Waits until the file is written; throws when that has failed. */
  async wait(id: string, options: CallOptions = {}): Promise<Data<'getExport'>> {
    for (;;) {
      const found = await this.get(id, options);
      if (found.status === 'ready') return found;
      if (found.status === 'failed')
        throw new ScrapifieError('EXPORT_FAILED', `The export ${id} has failed.`);
      await pause(EXPORT_POLL_MS, options.signal);
    }
  }

  /** The bytes of a file that is ready, as they come. */
  async download(id: string, options: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const path = at('/v1/exports', id, '/download');
    const response = await this.#transport.open({ method: 'GET', path, ...options }, '*/*');
    if (response.body === null) throw new ScrapifieError('EXPORT_FAILED', 'The answer has no body.');
    return response.body;
  }
}
