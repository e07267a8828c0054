import type { App } from '../../../server/app.ts';
import { Refusal } from '../failure.ts';
import type { FirecrawlDeps } from '../firecrawl-deps.ts';

/** What the vendor's service has and this server does not, with what to use in its place. */
const ABSENT: readonly (readonly [string, string])[] = [
  ['/crawl/params-preview', 'No language model chooses the options of a crawl here; set them yourself.'],
  ['/llmstxt', 'Files for language models are not generated here; crawl the site and use its Markdown.'],
  ['/llmstxt/*', 'Files for language models are not generated here; crawl the site and use its Markdown.'],
  ['/deep-research', 'Research is not done here; use search and scrape.'],
  ['/deep-research/*', 'Research is not done here; use search and scrape.'],
  ['/agent', 'Agents do not run here; use scrape with actions, or extract.'],
  ['/agent/*', 'Agents do not run here; use scrape with actions, or extract.'],
  ['/browser', 'Browsers are not lent here; use scrape with actions.'],
  ['/browser/*', 'Browsers are not lent here; use scrape with actions.'],
  ['/scrape/:id/interact', 'A page is not kept open here; use scrape with actions.'],
  ['/monitor', 'Monitors are part of the own API of this server: POST /v1/monitors.'],
  ['/monitor/*', 'Monitors are part of the own API of this server: POST /v1/monitors.'],
  ['/parse/upload-url', 'Files are sent with the request: POST /v2/parse.'],
  ['/parse/upload/*', 'Files are sent with the request: POST /v2/parse.'],
  ['/search/*', 'This part of search belongs to a service of the vendor.'],
  ['/feedback', 'Feedback belongs to a service of the vendor.'],
  ['/exchange/*', 'It belongs to a service of the vendor.'],
  ['/slack/*', 'It belongs to a service of the vendor.'],
  ['/support/*', 'It belongs to a service of the vendor.'],
  ['/team/activity', 'The jobs of an account are listed by the own API of this server: GET /v1/jobs.'],
  ['/team/siem', 'It belongs to a service of the vendor.'],
  ['/team/threat-protection', 'It belongs to a service of the vendor.'],
];

/** Answers the routes that this API does not have with 501, so that a client does not take them for a wrong address. */
export function addAbsentRoutes(app: App, _deps: FirecrawlDeps): void {
  for (const [url, why] of ABSENT) {
    app.route({
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      url,
      config: { access: 'key' },
      schema: { hide: true },
      async handler() {
        throw new Refusal(501, `Not available on this server. ${why}`, 'NOT_SUPPORTED');
      },
    });
  }
}
