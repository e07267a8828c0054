import { STORED_OPTIONS } from '../../api/choices.ts';
import type { Job } from '../../api/types.ts';
import { EMPTY_FORM, type JobForm } from './job-form.ts';

type Fields = Readonly<Record<string, unknown>>;

const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};
const asTexts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
const flag = (value: unknown, standard: boolean): boolean => (typeof value === 'boolean' ? value : standard);
/** A limit as text, in the unit of the form. */
const limit = (value: unknown, unit = 1): string => (typeof value === 'number' ? String(value / unit) : '');

/** Whether a value hides a secret: it cannot be sent again. */
const isHidden = (value: unknown): boolean => JSON.stringify(value ?? null).includes('[hidden]');

export interface ClonedJob {
  readonly form: JobForm;
  /** What the form cannot repeat, because the server does not show it again. */
  readonly missing: readonly string[];
}

/** A form filled with what an earlier job was asked for. */
export function cloneOf({ kind, seeds, options }: Pick<Job, 'kind' | 'seeds' | 'options'>): ClonedJob {
  const { page, scope, budgets, ...job } = asFields(options);
  const { fields, missing } = moreOptions(asFields(page));
  const isSitemapOfPages = asFields(scope).sitemap === 'only' && !seeds.every(isSitemapUrl);
  const more: Fields = {
    ...(isSitemapOfPages && { sitemap: 'only' }),
    ...(Array.isArray(job.routes) && { routes: job.routes.map(routeOf) }),
    ...(job.retention !== undefined && { retention: job.retention }),
    ...(typeof job.maxLoginWalls === 'number' && { maxLoginWalls: job.maxLoginWalls }),
    ...(Object.keys(fields).length > 0 && { options: fields }),
  };
  return {
    form: {
      ...EMPTY_FORM,
      ...scopeForm(asFields(scope), kind, seeds),
      ...budgetForm(asFields(budgets)),
      ...pageForm(asFields(page)),
      urls: seeds.join('\n'),
      concurrency: limit(job.concurrency),
      snapshots: job.snapshots === true,
      search: job.search === true,
      lake: job.lake === true,
      ifModified: job.refreshes !== undefined,
      exports: (Array.isArray(job.exports) ? job.exports : []).map((each) => {
        const { type, format } = asFields(each);
        return `${type}:${format}`;
      }),
      more: Object.keys(more).length > 0 ? JSON.stringify(more, null, 2) : '',
    },
    missing: [...missing, ...(job.webhookId !== undefined ? ['webhook'] : [])],
  };
}

/** Jobs do not say which of their start URLs are sitemaps. */
const isSitemapUrl = (url: string): boolean => /sitemap|\.(xml|txt)(\.gz)?$/i.test(url);

function scopeForm(scope: Fields, kind: Job['kind'], seeds: readonly string[]): Partial<JobForm> {
  const ignored = { ignoreQueryParameters: asTexts(scope.ignoreQueryParameters).join('\n') };
  if (kind === 'batch' || kind === 'scrape') return { kind: 'batch', ...ignored };
  return {
    ...ignored,
    kind: scope.sitemap === 'only' && seeds.every(isSitemapUrl) ? 'sitemap' : 'crawl',
    include: asTexts(scope.include).join('\n'),
    exclude: asTexts(scope.exclude).join('\n'),
    allowedDomains: asTexts(scope.allowedDomains).join('\n'),
    maxDepth: limit(scope.maxDepth),
    allowSubdomains: flag(scope.allowSubdomains, false),
    allowExternal: flag(scope.allowExternal, false),
    readsSitemap: scope.sitemap !== 'skip',
    obeyNofollow: flag(scope.obeyNofollow, true),
    obeyNoindex: flag(scope.obeyNoindex, true),
    followCanonical: flag(scope.followCanonical, true),
    avoidQueryTraps: flag(scope.avoidQueryTraps, false),
    keepFragment: flag(scope.keepFragment, false),
  };
}

const budgetForm = (budgets: Fields): Partial<JobForm> => ({
  maxPages: limit(budgets.maxPages),
  maxMinutes: limit(budgets.maxDurationMs, 60_000),
  maxMegabytes: limit(budgets.maxBytes, 1e6),
  maxBrowserMinutes: limit(budgets.maxBrowserMs, 60_000),
  maxProxyMegabytes: limit(budgets.maxProxyBytes, 1e6),
  maxCredits: limit(budgets.maxMicrocredits, 1e6),
});

function pageForm(page: Fields): Partial<JobForm> {
  const extract = asFields(page.extract);
  return {
    engine: typeof page.engine === 'string' ? page.engine : 'auto',
    formats: [...asTexts(page.formats)],
    timeoutSeconds: limit(page.timeoutMs, 1000),
    maxAttempts: limit(page.maxAttempts),
    onlyMainContent: flag(asFields(page.parts).onlyMain, true),
    extractType: typeof extract.type === 'string' ? extract.type : '',
    extractRules:
      typeof extract.rules === 'object' && extract.rules !== null
        ? JSON.stringify(extract.rules, null, 2)
        : '',
  };
}

/** Options of pages that the form has fields for. */
const IN_FORM: ReadonlySet<string> = new Set([
  'engine',
  'formats',
  'timeoutMs',
  'maxAttempts',
  'onlyMainContent',
  'extract',
]);

const valueAt = (page: Fields, place: string): unknown =>
  place.split('.').reduce<unknown>((value, step) => asFields(value)[step], page);

/** Options of pages that the form has no field for, by their names in a request. */
function moreOptions(page: Fields): { readonly fields: Fields; readonly missing: readonly string[] } {
  const fields: Record<string, unknown> = {};
  const missing: string[] = [];
  for (const { name, stored, standard } of STORED_OPTIONS) {
    const value = bare(valueAt(page, stored));
    if (IN_FORM.has(name) || value == null || JSON.stringify(value) === JSON.stringify(standard)) continue;
    const [option = name, part] = name.split('.');
    if (isHidden(value)) missing.push(name);
    else fields[option] = part === undefined ? value : { ...asFields(fields[option]), [part]: value };
  }
  return { fields, missing };
}

function routeOf(route: unknown): Fields {
  const { page, ...rest } = asFields(route);
  const { render, ...options } = asFields(page);
  return { ...rest, options: { ...options, ...asFields(render) } };
}

/** Requests leave out what stored options hold as null. */
const bare = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
    : value;
