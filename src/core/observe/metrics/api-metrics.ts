import { LabelGuard, type MetricMakers } from './makers.ts';

/** What the API of this process counts. */
export interface ApiMetrics {
  /** `route` is the pattern that matched, such as `/v1/jobs/:id`; null when none did. */
  httpRequest(method: string, route: string | null, statusCode: number, durationMs: number): void;
  /** A connection was closed from this side: `total`, `address` (too many of them), `unread` or `slow`. */
  connectionClosed(why: string): void;
  /** Where the gauge of unread bytes looks. Called once, by the API. */
  observeUnread(unreadBytes: () => number): void;
  /** Where the gauge of bytes of unfinished request bodies looks. Called once, by the API. */
  observeRequestBytes(heldBytes: () => number): void;
  /** A request came with a key that is unknown, expired or revoked; `isLimited` when it was not even looked up. */
  loginFailed(isLimited: boolean): void;
  /** An error of the program that no caller has handled; docs/metrics.md says what each kind is. */
  faulted(kind: FaultKind): void;
  /** The event loop was not free for this long. */
  loopDelayed(delayMs: number): void;
}

/**
 * Where a fault came from: a listener of one connection, an exception past all callers, or a promise that nothing
 * waited for.
 */
export type FaultKind = 'listener' | 'exception' | 'rejection';

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];
const LOOP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

export function createApiMetrics(make: MetricMakers): ApiMetrics {
  const routes = new LabelGuard(/^\/[a-z0-9_./:*-]{0,79}$/i, 300);
  const requests = make.counter('scrapifie_http_requests_total', 'Requests that were answered.', [
    'method',
    'route',
    'status',
  ]);
  const requestTime = make.timer(
    'scrapifie_http_request_duration_seconds',
    'Time from the arrival of a request to the end of its answer.',
    REQUEST_SECONDS,
    ['route'],
  );
  const closedConnections = make.counter(
    'scrapifie_closed_connections_total',
    'Connections that the API closed by itself: too many in total or from one address, left unread, or with a body that came too slowly.',
    ['why'],
    [{ why: 'total' }, { why: 'address' }, { why: 'unread' }, { why: 'slow' }],
  );
  const failedLogins = make.counter(
    'scrapifie_failed_logins_total',
    'Requests with an API key that is unknown, expired or revoked, and those refused for too many of these.',
    ['limited'],
    [{ limited: 'false' }, { limited: 'true' }],
  );
  const faults = make.counter(
    'scrapifie_faults_total',
    'Errors of the program outside of a call: in a listener, whose connection they ended, or uncaught, which ends the process.',
    ['kind'],
    [{ kind: 'listener' }, { kind: 'exception' }, { kind: 'rejection' }],
  );
  const loopTime = make.timer(
    'scrapifie_event_loop_delay_seconds',
    'How much later than due the event loop came to a timer: how long something held it up.',
    LOOP_SECONDS,
  );

  return {
    httpRequest(method, route, statusCode, durationMs) {
      const shownRoute = route === null ? 'unmatched' : routes.admit(route);
      requests.inc({
        method: METHODS.has(method) ? method : 'other',
        route: shownRoute,
        status: String(statusCode),
      });
      requestTime(durationMs, { route: shownRoute });
    },
    connectionClosed: (why) => closedConnections.inc({ why }),
    observeUnread: (unreadBytes) =>
      make.gauge('scrapifie_unread_bytes', 'Bytes that clients have not read yet.', unreadBytes),
    observeRequestBytes: (heldBytes) =>
      make.gauge(
        'scrapifie_request_bytes',
        'Bytes of request bodies that have not arrived whole.',
        heldBytes,
      ),
    loginFailed: (isLimited) => failedLogins.inc({ limited: String(isLimited) }),
    faulted: (kind) => faults.inc({ kind }),
    loopDelayed: (delayMs) => loopTime(delayMs),
  };
}
