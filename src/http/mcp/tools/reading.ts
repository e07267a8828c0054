import { z } from 'zod';
import { EXTRACT_TYPES } from '../../../capabilities/jobs/request/extract-fields.ts';
import { defined } from '../../../lib/defined.ts';
import { ApiFailure, dataOf } from '../api-call.ts';
import { contentOf, nextPageParts, PAGE_FORMATS, type PageAnswer, pageParts } from '../stored-page.ts';
import { cursor, maxTokens, text, tool, url } from '../tool.ts';
import { cursorOf, HEAD_TOKENS, listParts, listPlaceOf, portionOf, siteText } from '../tool-result.ts';

/** Tools that fetch one page, or the list of a site's pages. */

export const scrape = tool({
  name: 'scrape',
  title: 'Read a page',
  description: 'Fetches one web page and returns its content. Renders it in a browser where needed.',
  input: z.object({
    url,
    format: z.enum(PAGE_FORMATS).default('markdown'),
    onlyMainContent: z.boolean().default(true),
    waitForSelector: z.string().max(500).optional().describe('CSS; renders the page'),
    maxAge: z.int().min(0).optional().describe('ms; a stored copy this young is enough'),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ cursor: from, maxTokens: most, format, ...wanted }, context) {
    if (from !== undefined) return nextPageParts(from, most, context);
    const { url: address, onlyMainContent, waitForSelector, maxAge } = wanted;
    const body = {
      url: address,
      formats: [format],
      onlyMainContent,
      ...(waitForSelector === undefined ? {} : { wait: { selector: waitForSelector } }),
      ...defined({ maxAge }),
    };
    const { api, signal } = context;
    const page = await dataOf<PageAnswer>(api, { method: 'POST', path: '/v1/scrape', body, signal });
    return pageParts(page, { format, jobId: page.id ?? '', start: 0, maxTokens: most - HEAD_TOKENS });
  },
});

export const map = tool({
  name: 'map',
  title: 'List URLs of a site',
  description: 'Lists URLs of a site from its sitemap and links, without reading the pages.',
  input: z.object({
    url,
    search: z.string().max(200).optional().describe('Words that URLs or titles must have'),
    limit: z.int().min(1).max(5_000).default(200),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ url: address, search, limit, maxTokens: most, cursor: from }, { api, signal }) {
    const body = { url: address, limit, ...defined({ search }) };
    const mapped = await dataOf<{ pages: { url: string; title: string | null }[]; isTruncated: boolean }>(
      api,
      { method: 'POST', path: '/v1/map', body, signal },
    );
    const more = mapped.isTruncated ? '; the site has more: use `search` or a larger `limit`' : '';
    return [
      text(`${mapped.pages.length} URLs${more}`),
      ...listParts({ items: mapped.pages, nextCursor: null }, listPlaceOf(from), {
        most,
        show: ({ url: each, title }) => (title === null ? each : `${each} ${title}`),
        empty: 'No page was found. Check the URL, or use other words.',
        isFromSites: true,
      }),
    ];
  },
});

export const extract = tool({
  name: 'extract',
  title: 'Extract data',
  description: 'Reads structured data from a page: by a known type, or by CSS selectors for fields.',
  input: z.object({
    url,
    type: z
      .string()
      .max(200)
      .optional()
      .describe(`${EXTRACT_TYPES.join(', ')}, or one of a plug-in`),
    fields: z
      .record(z.string().max(100), z.string().max(1_000))
      .optional()
      .describe('Field name → CSS selector'),
    maxTokens,
    cursor,
  }),
  isReadOnly: true,
  async run({ url: address, type, fields, maxTokens: most, cursor: from }, context) {
    if (from !== undefined) return nextPageParts(from, most, context);
    const wanted = {
      ...(type === undefined && fields !== undefined ? {} : { type: type ?? 'auto' }),
      ...defined({ rules: fields }),
    };
    const body = { url: address, formats: ['metadata'], extract: wanted };
    const { api, signal } = context;
    const page = await dataOf<PageAnswer>(api, { method: 'POST', path: '/v1/scrape', body, signal });
    const found = portionOf(contentOf(page, 'extracted'), 0, most - HEAD_TOKENS);
    if (found.next === null) return [text(siteText(found.text))];
    const place = { job: page.id ?? '', url: page.url, format: 'extracted', start: found.next };
    return [text(siteText(found.text)), text(`More: call again with cursor ${cursorOf(place)}`)];
  },
});

export const screenshot = tool({
  name: 'screenshot',
  title: 'Take a screenshot',
  description: 'Renders a page in a browser and returns a picture of it.',
  input: z.object({ url, fullPage: z.boolean().default(false) }),
  isReadOnly: true,
  async run({ url: address, fullPage }, { api, signal }) {
    const body = { url: address, formats: ['screenshot'], inline: true, screenshot: { fullPage } };
    const page = await dataOf<{ screenshot: { base64: string | null; contentType: string } | null }>(api, {
      method: 'POST',
      path: '/v1/scrape',
      body,
      signal,
    });
    const picture = page.screenshot;
    if (picture?.base64 == null) throw new ApiFailure('NOT_FOUND', 'The page gave no picture.', []);
    const image = { type: 'image', data: picture.base64, mimeType: picture.contentType } as const;
    return [image, text('The site has written what the picture shows.')];
  },
});
