import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ExportView } from '../../src/capabilities/views/export-view.ts';
import type { Job } from '../../src/core/model/job.ts';
import { type ChangingSite, FIRST_TO_SECOND, startChangingSite } from '../site/changing-site.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import { QUICK_POLICY } from './world.ts';

const HEADS = {
  full: 'url,final_url,http_status,fetched_at,title,h1,price,currency,availability,sku,brand,category,breadcrumbs,images,attrs_json,text_hash',
  seo: 'url,fetched_at,title,meta_description,h1,og_title,og_description,og_image,twitter_title,twitter_description,canonical,robots,hreflang,images_alt_joined',
  diff: 'url,prev_crawl_at,curr_crawl_at,change_type,fields_changed,price_prev,price_curr,availability_prev,availability_curr,title_prev,title_curr',
} as const;
const WAIT = { timeout: 60_000, interval: 50 };
const allowed = join(tmpdir(), `scrapifie-export-places-${process.pid}`);

let world: ApiWorld;
let site: ChangingSite;
const crawls: Job[] = [];

beforeAll(async () => {
  site = await startChangingSite();
  await mkdir(allowed, { recursive: true });
  world = await openApiWorld({ policy: QUICK_POLICY, settings: { exportPlaces: allowed } });
  for (const edition of [0, 1]) {
    site.show(edition);
    const exports = [
      { type: 'full', format: 'csv' },
      { type: 'seo', format: 'csv' },
    ] as const;
    crawls.push(
      await world.crawlNow({
        urls: [`${site.origin}/`],
        sitemap: 'skip',
        options: { maxAttempts: 1 },
        exports: [...exports],
      }),
    );
  }
});
afterAll(async () => {
  await world.close();
  await site.close();
});

async function ready(id: string): Promise<ExportView> {
  return vi.waitFor(async () => {
    const { body } = await world.call({ url: `/v1/exports/${id}` });
    const made = body.data as unknown as ExportView;
    expect([made.status, made.error]).toEqual(['ready', null]);
    return made;
  }, WAIT);
}

const textOf = async ({ url }: ExportView) =>
  (await world.api.inject({ url: String(url).replace(/^https?:\/\/[^/]+/, '') })).payload;
const headOf = (csv: string) => csv.slice(0, csv.indexOf('\r\n'));

describe('two crawls of a site that changes, and their exports', () => {
  test('each crawl has written full.csv and seo.csv at its end, with the promised header lines', async () => {
    for (const { id } of crawls) {
      const made = await vi.waitFor(async () => {
        const { body } = await world.call({ url: `/v1/jobs/${id}/exports` });
        const { items } = body.data as { items: ExportView[] };
        expect(items.filter(({ status }) => status === 'ready')).toHaveLength(2);
        return items;
      }, WAIT);
      for (const each of made) {
        const csv = await textOf(each);
        expect(headOf(csv).startsWith(`${HEADS[each.type as 'full' | 'seo']},`)).toBe(true);
        expect(csv.split('\r\n')).toHaveLength(each.rows + 2);
      }
    }
  });

  test('diff.csv is right in every row', async () => {
    const [before, after] = crawls.map(({ id }) => id);
    const spec = { type: 'diff', format: 'csv', against: before };
    const { body } = await world.post(`/v1/jobs/${after}/exports`, spec);
    const csv = await textOf(await ready(String(body.data?.id)));
    expect(headOf(csv).startsWith(`${HEADS.diff},`)).toBe(true);
    const rows = parse(csv, { columns: true, record_delimiter: '\r\n' }) as Record<string, string>[];
    const types = rows.map(({ url = '', change_type: type = '' }) => [new URL(url).pathname, type] as const);
    expect(Object.fromEntries(types)).toEqual(FIRST_TO_SECOND);
    expect(rows.map(({ url }) => url)).toEqual(rows.map(({ url }) => url).sort());
    expect(rows.find(({ url }) => url?.endsWith('/swap'))).toMatchObject({
      change_type: 'MODIFIED',
      price_prev: '19',
      price_curr: '91',
      title_prev: 'Lamp',
      title_curr: 'Lamp',
    });
    const missing = await world.post(`/v1/jobs/${after}/exports`, { type: 'diff', format: 'csv' });
    expect([missing.status, missing.body.error?.details]).toEqual([
      422,
      [expect.objectContaining({ field: 'against' })],
    ]);
  });

  test('a copy goes to a place that the operator allows, and to no other', async () => {
    const job = crawls[0]?.id;
    const spec = { type: 'links', format: 'ndjson', to: { folder: join(allowed, 'inner') } };
    const { body } = await world.post(`/v1/jobs/${job}/exports`, spec);
    const made = await ready(String(body.data?.id));
    const [name = ''] = await readdir(join(allowed, 'inner'));
    expect(name).toMatch(/^127\.0\.0\.1.*-links-.*\.ndjson$/);
    expect(await readFile(join(allowed, 'inner', name), 'utf8')).toBe(await textOf(made));
    for (const folder of [join(allowed, '..'), `${allowed}-other`, '/etc', join(allowed, '../../etc')]) {
      const refused = await world.post(`/v1/jobs/${job}/exports`, { ...spec, to: { folder } });
      expect(refused.status).toBe(422);
    }
    expect(
      (await world.post(`/v1/jobs/${job}/exports`, { ...spec, to: { s3: 's3://other/x' } })).status,
    ).toBe(422);
  });

  test('an export whose copy cannot be written has failed, and its error names the place', async () => {
    await writeFile(join(allowed, 'blocked'), 'a plain file');
    const folder = join(allowed, 'blocked', 'inner');
    const spec = { type: 'links', format: 'ndjson', to: { folder } };
    const { body } = await world.post(`/v1/jobs/${crawls[0]?.id}/exports`, spec);
    const failed = await vi.waitFor(async () => {
      const made = (await world.call({ url: `/v1/exports/${body.data?.id}` })).body.data;
      expect(made).toMatchObject({ status: 'failed' });
      return made as unknown as ExportView;
    }, WAIT);
    expect(failed.error).toMatchObject({
      code: 'UNSUPPORTED_OPTION',
      message: `The copy cannot be written to ${folder}: The folder cannot be created or written.`,
    });
  });

  test('exports go with their job, and the cleanup removes files that nothing refers to', async () => {
    const { id } = crawls[0] ?? expect.fail('no crawl');
    const { body } = await world.call({ url: `/v1/jobs/${id}/exports` });
    const [first] = (body.data as { items: ExportView[] }).items;
    await world.platform.store.deleteJob(id);
    expect((await world.call({ url: `/v1/exports/${first?.id}` })).status).toBe(404);
    const { exportFiles, store } = world.platform;
    const isThere = async () =>
      (await exportFiles.list()).some(({ name }) => name.startsWith(`${first?.id}.`));
    expect(await isThere()).toBe(true);
    const { sweepExportFiles } = await import('../../src/capabilities/exports/export-file.ts');
    expect(await sweepExportFiles(store, exportFiles)).toBeGreaterThan(0);
    expect(await isThere()).toBe(false);
    const others = (await exportFiles.list()).length;
    expect(await sweepExportFiles(store, exportFiles)).toBe(0);
    expect(await exportFiles.list()).toHaveLength(others);
  });
});
