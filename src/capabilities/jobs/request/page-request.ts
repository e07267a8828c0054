import type { z } from 'zod';
import { isDisguised } from '../../../core/model/engine-traits.ts';
import type { Format, PageOptions } from '../../../core/model/job.ts';
import type { JobKind, KindsWith } from '../../../core/model/job-kinds.ts';
import { keptOptions } from '../../../core/model/page-option.ts';
import { PLAIN_PAGE_OPTIONS } from '../../../core/model/plain-options.ts';
import { deviceFieldsGiven } from './device-fields.ts';
import { proxyOptionsOf } from './fetch-fields.ts';
import type { PageFields } from './page-options.ts';
import { partsOf } from './part-fields.ts';
import { browserFields, checkPauses, renderWishOf } from './render-fields.ts';
import { ageMsOf } from './retention-fields.ts';

/** Types whose pages load parts of themselves when they come into sight. */
const SCROLLED_TYPES: ReadonlySet<string> = new Set(['job_posting', 'linkedin_profile']);

type FieldsOf<Kind extends JobKind> = z.output<z.ZodObject<PageFields<Kind>>>;
/** The fields of any request: those that a map does not have may be missing. */
export type PageRequest = FieldsOf<KindsWith<{ isListOfUrls: true }>> & Partial<FieldsOf<'scrape'>>;

/** Refuses what contradicts itself, by the name of the field that is one too many. */
export function checkPage(given: PageRequest, context: z.core.$RefinementCtx): void {
  const refuse = (path: readonly (string | number)[], message: string) =>
    context.addIssue({ code: 'custom', path: [...path], message });
  if (typeof given.body === 'string' && given.method !== 'POST') {
    refuse(['body'], 'A body needs `method: "POST"`.');
  }
  const names = new Set(Object.keys(given.headers).map((name) => name.toLowerCase()));
  for (const [index, name] of given.crossOriginHeaders.entries()) {
    if (!names.has(name.toLowerCase())) refuse(['crossOriginHeaders', index], 'Not among `headers`.');
  }
  if (given.engine === 'http') {
    for (const path of browserFields(given)) refuse(path, 'Needs a browser, and `engine` says `http`.');
  }
  if (given.identity === 'browser' || (given.engine !== undefined && isDisguised(given.engine))) {
    for (const name of deviceFieldsGiven(given)) {
      refuse([name], 'The identity of a browser has a screen and a place of its own.');
    }
  }
  if (given.engine !== undefined && isDisguised(given.engine) && given.identity === 'bot') {
    refuse(['identity'], `The engine \`${given.engine}\` has a browser’s identity.`);
  }
  if (given.identityBrowser !== null && (given.engine !== 'http' || given.identity !== 'browser')) {
    refuse(
      ['identityBrowser'],
      'Needs `identity: "browser"` and `engine: "http"`: what renders pages is Chromium.',
    );
  }
  checkPauses(given, context);
}

export function pageOptionsOf(request: PageRequest): PageOptions {
  const { formats = [], screenshot = null } = request;
  const maxAgeMs = ageMsOf(request.maxAge ?? 0);
  return {
    engine: request.engine,
    formats: [...new Set<Format>([...formats, ...(screenshot === null ? [] : (['screenshot'] as const))])],
    headers: request.headers,
    ...keptOptions(PLAIN_PAGE_OPTIONS, request),
    cookies: request.cookies,
    method: request.method ?? 'GET',
    body: request.body ?? null,
    timeoutMs: request.timeoutMs,
    maxAttempts: request.maxAttempts,
    maxBodyBytes: request.maxBodyBytes,
    obeyRobots: request.obeyRobots,
    render: renderWishOf(request),
    ...(request.scroll === null && SCROLLED_TYPES.has(request.extract?.type ?? '')
      ? { scrollsByType: true }
      : {}),
    session: request.session,
    proxy: proxyOptionsOf(request.proxy),
    ...(request.proxy?.maxTier === undefined ? {} : { maxProxyTier: request.proxy.maxTier }),
    identity: request.identity,
    extract: request.extract ?? null,
    ...partsOf(request),
    isInline: request.inline ?? false,
    ...(maxAgeMs === 0 ? {} : { maxAgeMs }),
    ...(request.reuse === false ? { isReusable: false as const } : {}),
  };
}
