/** A request of the API that a sample of code sends. */
export interface SampleRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query, such as `/v1/jobs?limit=10`. */
  readonly path: string;
  readonly body?: unknown;
}

/** What a call of the clients gives: a value, nothing, entries page by page, entries as they come, or bytes. */
export type ResultKind = 'value' | 'nothing' | 'list' | 'stream' | 'bytes';

export interface ClientMethod {
  /** In TypeScript and Python; Go begins each part with a capital. */
  readonly name: string;
  readonly kind: ResultKind;
  /** Fields of the query that are arguments of their own in Go. */
  readonly goArguments?: readonly string[];
  /** TypeScript takes the fields of `goArguments` as arguments, too. */
  readonly isSpread?: boolean;
  /** What a function of Go gets for each entry of a stream. */
  readonly goItem?: string;
}

const value = (name: string): ClientMethod => ({ name, kind: 'value' });
const nothing = (name: string): ClientMethod => ({ name, kind: 'nothing' });
const list = (name: string, ...goArguments: readonly string[]): ClientMethod => ({
  name,
  kind: 'list',
  goArguments,
});

/** Operations that have a method in the clients. `test/dashboard/sample-forms.test.ts` holds the names against them. */
export const CLIENT_METHODS: Readonly<Record<string, ClientMethod>> = {
  'POST /v1/scrape': value('scrape'),
  'POST /v1/batch': value('batch'),
  'POST /v1/crawl': value('crawl'),
  'POST /v1/map': value('map'),
  'POST /v1/extract': value('extract'),
  'POST /v1/query': value('query'),
  'GET /v1/search': list('search', 'q'),
  'GET /v1/account': value('account'),
  'GET /v1/usage': list('usage'),
  'GET /v1/jobs': list('jobs.list'),
  'GET /v1/jobs/{id}': value('jobs.get'),
  'DELETE /v1/jobs/{id}': nothing('jobs.delete'),
  'POST /v1/jobs/{id}/cancel': value('jobs.cancel'),
  'POST /v1/jobs/{id}/resume': value('jobs.resume'),
  'POST /v1/jobs/{id}/retry': value('jobs.retry'),
  'GET /v1/jobs/{id}/results': list('jobs.results'),
  'GET /v1/jobs/{id}/errors': list('jobs.errors'),
  'GET /v1/jobs/{id}/urls': list('jobs.urls'),
  'GET /v1/jobs/{id}/why': { name: 'jobs.why', kind: 'value', goArguments: ['url'], isSpread: true },
  'GET /v1/jobs/{id}/diff': list('jobs.diff', 'against'),
  'GET /v1/jobs/{id}/exports': list('jobs.exports'),
  'GET /v1/jobs/{id}/events': { name: 'jobs.events', kind: 'stream', goItem: 'Event' },
  'POST /v1/jobs/{id}/reextract': { name: 'jobs.reextract', kind: 'stream', goItem: 'Page' },
  'POST /v1/jobs/{id}/exports': value('exports.create'),
  'GET /v1/exports': list('exports.list'),
  'GET /v1/exports/{id}': value('exports.get'),
  'DELETE /v1/exports/{id}': nothing('exports.delete'),
  'GET /v1/exports/{id}/download': { name: 'exports.download', kind: 'bytes' },
  'GET /v1/pages': list('snapshots.list', 'url'),
  'GET /v1/snapshots/{id}': value('snapshots.get'),
  'GET /v1/snapshots/{id}/diff/{other}': value('snapshots.diff'),
  'POST /v1/monitors': value('monitors.create'),
  'GET /v1/monitors': list('monitors.list'),
  'GET /v1/monitors/{id}': value('monitors.get'),
  'PATCH /v1/monitors/{id}': value('monitors.update'),
  'DELETE /v1/monitors/{id}': nothing('monitors.delete'),
  'POST /v1/monitors/{id}/run': value('monitors.run'),
  'POST /v1/monitors/{id}/pause': value('monitors.pause'),
  'POST /v1/monitors/{id}/resume': value('monitors.resume'),
  'GET /v1/monitors/{id}/changes': list('monitors.changes'),
  'POST /v1/schedules': value('schedules.create'),
  'GET /v1/schedules': list('schedules.list'),
  'GET /v1/schedules/{id}': value('schedules.get'),
  'PATCH /v1/schedules/{id}': value('schedules.update'),
  'DELETE /v1/schedules/{id}': nothing('schedules.delete'),
  'POST /v1/schedules/{id}/run': value('schedules.run'),
  'POST /v1/schedules/{id}/pause': value('schedules.pause'),
  'POST /v1/schedules/{id}/resume': value('schedules.resume'),
  'GET /v1/schedules/{id}/runs': list('schedules.runs'),
  'POST /v1/webhooks': value('webhooks.create'),
  'GET /v1/webhooks': list('webhooks.list'),
  'GET /v1/webhooks/{id}': value('webhooks.get'),
  'PATCH /v1/webhooks/{id}': value('webhooks.update'),
  'DELETE /v1/webhooks/{id}': nothing('webhooks.delete'),
  'POST /v1/webhooks/{id}/rotate': value('webhooks.rotate'),
  'GET /v1/webhooks/{id}/deliveries': list('webhooks.deliveries'),
  'POST /v1/deliveries/{id}/redeliver': value('webhooks.redeliver'),
};

/** Turns the name of a method into that of the Go client: `jobs.urls` becomes `Jobs.URLs`. */
export const goName = (name: string): string =>
  name
    .split('.')
    .map((part) => (part === 'urls' ? 'URLs' : part.slice(0, 1).toUpperCase() + part.slice(1)))
    .join('.');

export interface FoundOperation {
  /** Such as `GET /v1/jobs/{id}`; null where no client method and no tool is known for the path. */
  readonly route: string | null;
  readonly params: readonly string[];
  readonly query: Readonly<Record<string, string | readonly string[]>>;
}

/** A request, where it goes, and the operation it calls. */
export interface Sample extends SampleRequest {
  readonly origin: string;
  readonly url: string;
  readonly operation: FoundOperation;
  readonly client: ClientMethod | null;
  /** Fields of the body, or of the query where there is no body. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Which operation a request calls, with the values in its path and its query. */
export function operationAt(method: string, path: string): FoundOperation {
  const [plain = '', search = ''] = path.split('?', 2);
  const segments = plain.split('/');
  const names = new URLSearchParams(search);
  const query: Record<string, string | readonly string[]> = {};
  for (const name of new Set(names.keys())) {
    const all = names.getAll(name);
    query[name] = all.length === 1 ? (all[0] ?? '') : all;
  }
  for (const route of Object.keys(CLIENT_METHODS)) {
    const [verb, pattern = ''] = route.split(' ');
    const parts = pattern.split('/');
    const isSame =
      verb === method &&
      parts.length === segments.length &&
      parts.every((part, index) => part.startsWith('{') || part === segments[index]);
    if (!isSame) continue;
    const params = segments.filter((_, index) => parts[index]?.startsWith('{')).map(decoded);
    return { route, params, query };
  }
  return { route: null, params: [], query };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
