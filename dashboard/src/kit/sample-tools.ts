type Fields = Readonly<Record<string, unknown>>;

export interface ToolInput {
  readonly params: readonly string[];
  readonly query: Fields;
  readonly body: Fields;
}

/** A call of a tool of the MCP server. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Fields;
  /** Fields of the request that the tool does not take. */
  readonly leftOut: readonly string[];
}

/** Fields that tools have for all lists in another form. */
const PAGING = ['limit', 'cursor'];

/** Keeps the fields that the tool takes under the same name, and names the others. */
function taken(name: string, given: Fields, names: readonly string[], own: Fields = {}): ToolCall {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return {
    name,
    arguments: { ...own, ...Object.fromEntries(present.filter(([field]) => names.includes(field))) },
    leftOut: present
      .map(([field]) => field)
      .filter((field) => !names.includes(field) && !PAGING.includes(field)),
  };
}

const without = (call: ToolCall, ...fields: readonly string[]): ToolCall => ({
  ...call,
  leftOut: call.leftOut.filter((field) => !fields.includes(field)),
});

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const byId =
  (name: string, names: readonly string[] = []) =>
  ({ params, query, body }: ToolInput) =>
    taken(name, { ...query, ...body }, names, { id: params[0] });

const PAGE_FORMATS = ['markdown', 'text', 'html', 'links', 'metadata'];

function scrapeTool({ body }: ToolInput): ToolCall {
  const formats = listOf(body.formats);
  const extract = fieldsOf(body.extract);
  const rules = fieldsOf(extract.rules);
  const hasPlainRules = Object.values(rules).every((rule) => typeof rule === 'string');
  if (body.extract != null) {
    const call = taken('extract', body, ['url'], {
      ...(extract.type != null && { type: extract.type }),
      ...(hasPlainRules && Object.keys(rules).length > 0 && { fields: rules }),
    });
    const inner = ['schema', 'llm', ...(hasPlainRules ? [] : ['rules'])].filter((field) => extract[field]);
    return {
      ...without(call, 'extract', 'formats'),
      leftOut: [...without(call, 'extract', 'formats').leftOut, ...inner.map((field) => `extract.${field}`)],
    };
  }
  if (formats.length === 1 && formats[0] === 'screenshot') {
    const { fullPage, ...others } = fieldsOf(body.screenshot);
    const call = taken('screenshot', body, ['url'], fullPage === true ? { fullPage } : {});
    const inner = Object.keys(others).map((field) => `screenshot.${field}`);
    const { leftOut, ...rest } = without(call, 'formats', 'screenshot');
    return { ...rest, leftOut: [...leftOut, ...inner] };
  }
  const format = PAGE_FORMATS.find((each) => formats.includes(each)) ?? 'markdown';
  const { selector, ...waits } = fieldsOf(body.wait);
  const call = taken('scrape', body, ['url', 'onlyMainContent', 'maxAge'], {
    ...(format !== 'markdown' && { format }),
    ...(selector !== undefined && { waitForSelector: selector }),
  });
  const { leftOut, ...rest } = without(call, 'wait', 'formats');
  const others = formats.filter((each) => each !== format).map((each) => `the format ${each}`);
  return { ...rest, leftOut: [...leftOut, ...Object.keys(waits).map((field) => `wait.${field}`), ...others] };
}

/** Fields of a crawl that the tools `crawl` and `schedule_create` take: the first URL, and some limits. */
function crawlTool(name: string, given: Fields, names: readonly string[], own: Fields): ToolCall {
  const [url, ...more] = listOf(given.urls);
  const call = without(taken(name, given, names, { ...own, url }), 'urls', 'kind');
  return more.length === 0 ? call : { ...call, leftOut: [...call.leftOut, 'more than one of the urls'] };
}

function scheduleTool({ body }: ToolInput): ToolCall | null {
  const job = fieldsOf(body.job);
  if (job.kind !== 'crawl') return null;
  const times = taken('schedule_create', body, ['name', 'every', 'cron', 'timeZone']);
  const crawl = crawlTool('schedule_create', job, ['maxPages'], times.arguments);
  return {
    ...crawl,
    leftOut: [...without(times, 'job').leftOut, ...crawl.leftOut.map((field) => `job.${field}`)],
  };
}

function monitorTool({ body }: ToolInput): ToolCall {
  const call = taken(
    'monitor_create',
    { ...body, ...fieldsOf(body.schedule), selectors: fieldsOf(body.watch).selectors },
    ['name', 'urls', 'site', 'every', 'cron', 'timeZone', 'selectors', 'maxPages'],
  );
  const { leftOut, ...rest } = without(call, 'schedule', 'watch');
  const watched = Object.keys(fieldsOf(body.watch)).filter((field) => field !== 'selectors');
  return { ...rest, leftOut: [...leftOut, ...watched.map((field) => `watch.${field}`)] };
}

const queryTool = ({ body }: ToolInput): ToolCall =>
  typeof body.sql === 'string'
    ? taken('sql', body, ['sql', 'limit'])
    : taken('query', body, ['from', 'select', 'where', 'group', 'order', 'limit']);

/** The tool of the MCP server for an operation, where there is one. */
export const TOOL_CALLS: Readonly<Record<string, (input: ToolInput) => ToolCall | null>> = {
  'POST /v1/scrape': scrapeTool,
  'POST /v1/map': ({ body }) => taken('map', body, ['url', 'search', 'limit']),
  'POST /v1/crawl': ({ body }) =>
    crawlTool('crawl', body, ['maxPages', 'maxDepth', 'include', 'exclude', 'snapshots'], {}),
  'POST /v1/batch': ({ body }) => taken('batch', body, ['urls']),
  'POST /v1/query': queryTool,
  'GET /v1/search': ({ query }) => without(taken('search', query, ['host'], { query: query.q }), 'q'),
  'GET /v1/usage': ({ query }) => taken('usage', query, ['by', 'from', 'to']),
  'GET /v1/jobs': ({ query }) => taken('job_list', query, ['status', 'domain']),
  'GET /v1/jobs/{id}': byId('crawl_status'),
  'POST /v1/jobs/{id}/cancel': byId('job_cancel'),
  'POST /v1/jobs/{id}/resume': byId('job_resume'),
  'POST /v1/jobs/{id}/retry': byId('job_retry'),
  'GET /v1/jobs/{id}/errors': byId('job_errors'),
  'GET /v1/jobs/{id}/why': byId('why', ['url']),
  'GET /v1/jobs/{id}/diff': byId('diff', ['against']),
  'POST /v1/jobs/{id}/exports': byId('export', ['type', 'format']),
  'GET /v1/exports/{id}': byId('export_status'),
  'GET /v1/pages': ({ query }) => taken('page_history', query, ['url']),
  'GET /v1/snapshots/{id}/diff/{other}': ({ params, query }) =>
    taken('version_diff', query, ['mode'], { id: params[0], other: params[1] }),
  'POST /v1/monitors': monitorTool,
  'GET /v1/monitors': ({ query }) => taken('monitor_list', query, []),
  'DELETE /v1/monitors/{id}': byId('monitor_delete'),
  'GET /v1/monitors/{id}/changes': byId('monitor_changes', ['since']),
  'POST /v1/schedules': scheduleTool,
  'GET /v1/schedules': ({ query }) => taken('schedule_list', query, []),
  'DELETE /v1/schedules/{id}': byId('schedule_delete'),
};
