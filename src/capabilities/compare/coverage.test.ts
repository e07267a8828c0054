import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../core/errors/registry.ts';
import type { JobId, JobSeq, UrlKey } from '../../core/model/ids.ts';
import { DEFAULT_ACCOUNT } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { Page } from '../../core/model/page.ts';
import type { SitePage } from '../../core/ports/job-pages-store.ts';
import { absenceByParent, absenceOfKnown, incompleteness, scopeDifference } from './coverage.ts';

const SCOPE = { maxDepth: 3, include: [], exclude: [] };
const job = (changes: object = {}): Job =>
  ({
    id: '1' as JobId,
    seq: 1 as JobSeq,
    accountId: DEFAULT_ACCOUNT,
    kind: 'crawl',
    status: 'completed',
    stopReason: null,
    seeds: ['https://a.test/'],
    finishedAt: 2,
    options: { scope: SCOPE, budgets: { maxPages: 5 } },
    ...changes,
  }) as unknown as Job;
const entry = (changes: Partial<SitePage>): SitePage => ({
  urlKey: 'k' as UrlKey,
  url: 'https://a.test/x',
  state: 'done',
  rule: null,
  errorCode: null,
  foundBy: 'link',
  foundOn: 'https://a.test/',
  page: null,
  ...changes,
});
const answered = (statusCode: number) => ({ statusCode }) as Page;
const failed = (errorCode: ErrorCode, statusCode?: number): Partial<SitePage> => ({
  state: 'failed',
  errorCode,
  page: statusCode === undefined ? null : answered(statusCode),
});

describe('a URL without a page', () => {
  it.each<[string, Partial<SitePage>, string | undefined, boolean, string]>([
    ['404', failed('HTTP_ERROR', 404), undefined, true, 'http-404'],
    ['410', failed('HTTP_ERROR', 410), undefined, true, 'http-410'],
    ['500', failed('HTTP_ERROR', 500), undefined, false, 'failed:HTTP_ERROR'],
    ['an unreachable host', failed('CONNECT_FAILED'), undefined, false, 'failed:CONNECT_FAILED'],
    ['a block page', failed('BLOCKED', 403), undefined, false, 'failed:BLOCKED'],
    ['a soft 404', {}, 'soft-404', false, 'page:soft-404'],
    ['a log-in wall', {}, 'login-wall', false, 'page:login-wall'],
    ['robots.txt', { state: 'denied', rule: 'robots.disallow: /x' }, undefined, false, 'robots.disallow'],
    ['the scope', { state: 'skipped', rule: 'scope.exclude:/x' }, undefined, false, 'scope.exclude'],
    ['a spent budget', { state: 'skipped', rule: 'budget.pages' }, undefined, false, 'budget.pages'],
    ['a cancelled job', { state: 'cancelled' }, undefined, false, 'job-cancelled'],
    ['a job that goes on', { state: 'ready' }, undefined, false, 'job-running'],
  ])('is gone only where the host said so: %s', (_, changes, outcome, isProven, code) => {
    const absence = absenceOfKnown(entry(changes), outcome, job());
    expect([absence.isProven, absence.code]).toEqual([isProven, code]);
    expect(absence.message).toMatch(/\.$/);
  });
});

describe('a crawl', () => {
  it.each<[string, object, string | null]>([
    ['that ended', {}, null],
    ['of which some pages failed', { status: 'partially_completed' }, null],
    ['that goes on', { status: 'running', finishedAt: null }, 'job-running'],
    ['that was cancelled', { status: 'cancelled' }, 'job-cancelled'],
    ['that reached a limit', { stopReason: 'budget.pages' }, 'job-stopped:budget.pages'],
    ['that fetched nothing', { status: 'failed' }, 'job-failed'],
  ])('%s covers its scope, or says why not', (_, changes, code) => {
    expect(incompleteness(job(changes))?.code ?? null).toBe(code);
  });

  it('says nothing about URLs that another one looks for elsewhere', () => {
    expect(scopeDifference(job(), job())).toBeNull();
    expect(scopeDifference(job(), job({ seeds: ['https://b.test/'] }))?.code).toBe('other-scope');
    const options = { scope: { ...SCOPE, maxDepth: 1 } };
    expect(scopeDifference(job(), job({ options }))?.code).toBe('other-scope');
    expect(scopeDifference(job({ kind: 'batch' }), job())?.code).toBe('not-requested');
  });

  it('proves that a page is not linked only where it has read what led there', () => {
    const parent = { url: 'https://a.test/', kind: 'page', state: 'done', errorCode: null } as const;
    expect(absenceByParent(parent, 'current')).toMatchObject({ isProven: true, code: 'not-linked' });
    expect(
      absenceByParent({ ...parent, state: 'failed', errorCode: 'BODY_TIMEOUT' }, 'current'),
    ).toMatchObject({
      isProven: false,
      code: 'parent-not-read',
    });
    expect(absenceByParent({ ...parent, kind: 'sitemap', state: 'denied' }, 'previous')?.code).toBe(
      'sitemap-not-read',
    );
    expect(absenceByParent(null, 'current')).toBeNull();
  });
});
