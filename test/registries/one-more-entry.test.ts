import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ChangedTree, copyTree, PRINT_API } from './changed-tree.ts';

/** The edit that CONTRIBUTING names for an option: its entry. One is for browsers, one for every engine. */
const RENDER_ENTRY = `  trialColours: {
    schema: z.enum(['light', 'dark']).nullable().default(null).describe('Colours that pages are shown in.'),
    cannot: 'choose colours',
    needsBrowser: true,
    flags: {
      trialColours: { flag: '--trial-colours <name>', says: 'colours that pages are shown in', choices: ['light', 'dark'] },
    },
    form: [{ group: 'fetch', label: 'Colours', kind: 'choice', choices: [['', 'As usual'], ['dark', 'Dark']] }],
  },
`;
const PAGE_ENTRY = `  trialReferrer: {
    schema: z.string().max(2_000).nullable().default(null).describe('The page that is named as the one before.'),
    flags: { trialReferrer: { flag: '--trial-referrer <url>', says: 'the page before' } },
    isOfFetch: true,
    form: [{ group: 'fetch', label: 'Page before', kind: 'text' }],
  },
`;
/** What uses the options has their types. */
const USE = `import type { PageOptions } from './src/core/model/job.ts';

export const usedOptions = ({ trialReferrer, render }: PageOptions): readonly [string | undefined, 'light' | 'dark' | undefined] => [
  trialReferrer,
  render?.trialColours,
];
`;
/** The edits that CONTRIBUTING names for a column of jobs, and the places before which they stand. */
const COLUMN_EDITS = [
  [
    'src/core/model/job.ts',
    '  /** The run of a schedule that the job is for',
    '  readonly note?: string | null;\n',
  ],
  ['src/drivers/store-sql/schema/jobs.sql', '  kind text NOT NULL,', '  note text,\n'],
  ['src/drivers/store-rows/job-rows.ts', '  kind: job.kind,', '  note: job.note ?? null,\n'],
  [
    'src/drivers/store-rows/job-rows.ts',
    '    kind: row.kind as JobKind,',
    '    note: row.note as string | null,\n',
  ],
] as const;
/** Stores a job with the column and reads it again. */
const USE_COLUMN = `import { createSqliteStore } from './src/drivers/store-sqlite/sqlite-store.ts';

const store = await createSqliteStore({ path: 'jobs.db' });
await store.migrate();
const accountId = await store.defaultAccount();
const job = { id: 'one', accountId, kind: 'crawl', seeds: [], note: 'kept', options: { budgets: {
  maxPages: null, maxBytes: null, maxDurationMs: null } } };
await store.createJob(job, []);
console.log((await store.getJob('one')).note);
await store.close();
`;
/** The edits that CONTRIBUTING names for an export format: its entry and its writer. */
const FORMAT_ENTRY = `  tsv: {
    label: 'TSV',
    takes: 'rows',
    ending: '.tsv',
    contentType: 'text/tab-separated-values',
    writer: 'tsv',
    docs: 'tabs between the cells',
  },
`;
const WRITER = `
import type { Table, TableWriters } from '../table.ts';

async function* writeTsv(table: Table): AsyncGenerator<Uint8Array> {
  yield Buffer.from(table.columns.map(({ name }) => name).join('\\t'));
}

export const writers = { tsv: writeTsv } satisfies TableWriters;
`;

/** The edits that CONTRIBUTING names for a job kind that the API and schedules start. */
const KIND_ENTRY = `  probe: {
    ...FETCHES_GIVEN,
    label: 'Probe',
    isSinglePage: false,
    hasOneUrl: false,
    isUrgent: true,
    isAwaited: false,
    isScheduled: true,
    isAudited: true,
  },
`;
const KIND_REQUEST = `export const probeRequestSchema = batchRequestSchema
  .safeExtend({ urls: z.array(url).min(1).max(10).describe('The pages to look at.') })
  .meta({ id: 'ProbeRequest' });

`;
const KIND_DRAFT = "  probe: (request, ...how) => ({ ...draftBatch(request, ...how), kind: 'probe' }),\n";
const KIND_ROUTE = `import { probeRequestSchema } from '../../capabilities/jobs/request/job-request.ts';
import { accountOf } from '../server/caller.ts';
import type { App } from '../server/app.ts';
import { answers, success } from '../server/envelope.ts';
import { acceptedSchema, acceptedView } from '../../capabilities/views/job-view.ts';
import type { RouteDeps } from './route-deps.ts';

export function addProbeRoutes(app: App, { jobs }: RouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/probe',
    config: { access: 'jobs:write' },
    schema: { tags: ['scrape'], summary: 'Look at a few pages', body: probeRequestSchema, response: answers({ 202: acceptedSchema }) },
    async handler(request, reply) {
      reply.code(202);
      return success(acceptedView(await jobs.start({ kind: 'probe', request: request.body }, accountOf(request))));
    },
  });
}
`;

const REQUESTS = ['ScrapeRequest', 'BatchPageOptions', 'CrawlPageOptions', 'PageOptions'];

let tree: ChangedTree;
let document: string;
beforeAll(async () => {
  tree = await copyTree();
  await tree.insertBefore('src/core/model/plain-options.ts', '  blockResources: {\n    schema', RENDER_ENTRY);
  await tree.insertBefore('src/core/model/plain-options.ts', '  identityBrowser: {\n    schema', PAGE_ENTRY);
  await tree.write('use.ts', USE);
  await tree.insertBefore('src/core/model/export-registry.ts', '  xlsx: {\n', FORMAT_ENTRY);
  await tree.write('src/capabilities/exports/writers/tsv.ts', WRITER);
  for (const [file, mark, text] of COLUMN_EDITS) await tree.insertBefore(file, mark, text);
  await tree.insertBefore('src/core/model/job-kinds.ts', "  map: {\n    label: 'Map'", KIND_ENTRY);
  const requests = 'src/capabilities/jobs/request/job-request.ts';
  await tree.insertBefore(requests, '/** What a request of each kind of job is. */', KIND_REQUEST);
  await tree.insertBefore(requests, '  map: mapRequestSchema,', '  probe: probeRequestSchema,\n');
  await tree.insertBefore('src/capabilities/jobs/accept/job-draft.ts', '  map: draftMap,', KIND_DRAFT);
  await tree.write('src/http/routes/probe.ts', KIND_ROUTE);
  const routes = 'src/http/api.ts';
  await tree.insertBefore(
    routes,
    'import { addProxyRoutes }',
    "import { addProbeRoutes } from './routes/probe.ts';\n",
  );
  await tree.insertBefore(routes, '  addExtractRoutes,', '  addProbeRoutes,\n');
  await tree.insertBefore(
    'src/http/routes/operation-ids.ts',
    "  'POST /v1/extract'",
    "  'POST /v1/probe': 'startProbe',\n",
  );
  document = await tree.evaluate(PRINT_API);
});
afterAll(() => tree.remove());

it('one more entry compiles, where it is declared and where it is used', () => tree.checkTypes(), 600_000);

it('one more column of jobs is stored and read again', async () => {
  expect((await tree.evaluate(USE_COLUMN)).trim()).toBe('kept');
  const createJob = await tree.read('src/drivers/store-postgres/schema/functions/create-job.sql');
  // The function of PostgreSQL names no column but the number: it takes the row as the program made it.
  expect(createJob).toContain('INSERT INTO jobs SELECT (made).*;');
});

it('one more option is a field of every request of the API that fetches pages, and of the types of clients', async () => {
  const { schemas } = JSON.parse(document).components;
  for (const name of REQUESTS) {
    expect(Object.keys(schemas[name].properties), name).toEqual(
      expect.arrayContaining(['trialColours', 'trialReferrer']),
    );
  }
  expect(schemas.ScrapeRequest.properties.trialColours.description).toBe('Colours that pages are shown in.');
  await tree.write('openapi.json', document);
  const types = await tree.evaluate(`
    import { readFileSync } from 'node:fs';
    import { modelOf } from './scripts/client-types/api-model.ts';
    import { goTypes } from './scripts/client-types/go-types.ts';
    import { pythonTypes } from './scripts/client-types/python-types.ts';
    import { typescriptTypes } from './scripts/client-types/typescript-types.ts';
    const model = modelOf(JSON.parse(readFileSync('openapi.json', 'utf8')));
    console.log(goTypes(model.named), pythonTypes(model.named), typescriptTypes(model));
  `);
  expect(types).toContain('TrialColours');
  expect(types).toMatch(/^ +trialColours: /m);
  expect(types).toMatch(/^ +trialColours\?: /m);
});

it('one more entry is a flag, or a choice, of the commands that take it', async () => {
  const shown = await tree.evaluate(`
    import { Command } from 'commander';
    import { define as crawl } from './src/cli/commands/crawl.ts';
    import { define as exported } from './src/cli/commands/export.ts';
    import { define as map } from './src/cli/commands/map.ts';
    import { define as scrape } from './src/cli/commands/scrape.ts';
    import { define as shell } from './src/cli/commands/shell.ts';
    const helpOf = ([name, define]) => {
      const command = new Command(name);
      define(command, {}, () => undefined, async () => 0);
      return [name, command.helpInformation().replaceAll(/\\s+/g, ' ')];
    };
    const commands = { scrape, crawl, map, shell, exported };
    console.log(JSON.stringify(Object.fromEntries(Object.entries(commands).map(helpOf))));
  `);
  const { exported, ...fetching } = JSON.parse(shown) as Record<string, string>;
  for (const help of Object.values(fetching)) {
    expect(help).toContain(
      '--trial-colours <name> colours that pages are shown in (choices: "light", "dark")',
    );
    expect(help).toContain('--trial-referrer <url> the page before');
  }
  expect(fetching.crawl).toMatch(/formats: [^;)]*\btsv\b/);
  expect(exported).toContain('"csv", "tsv", "xlsx"');
});

it('one more option is completed', async () => {
  expect(await tree.run('src/main.ts', 'completion', 'bash')).toContain('--trial-colours');
});

it('one more option is kept with the job, goes to render workers, and is refused where it cannot be had', async () => {
  const found = await tree.evaluate(`
    import { bodyFor } from './src/fetch/firecrawl/firecrawl-engine.ts';
    import { orderFor } from './src/fetch/flaresolverr/solver-order.ts';
    import { wishSchema } from './src/fetch/remote/render-message.ts';
    import { scrapeRequestSchema } from './src/capabilities/jobs/request/job-request.ts';
    import { pageOptionsOf } from './src/capabilities/jobs/request/page-request.ts';
    const url = 'https://example.com/';
    const given = { url, trialColours: 'dark', trialReferrer: 'https://before.example/' };
    const kept = pageOptionsOf(scrapeRequestSchema.parse(given));
    const messageOf = (call) => { try { call(); return null; } catch (error) { return error.message; } };
    const request = { url, method: 'GET', headers: {}, cookies: {}, body: null, render: kept.render };
    console.log(JSON.stringify({
      trialReferrer: kept.trialReferrer,
      render: kept.render,
      sent: wishSchema.parse(JSON.parse(JSON.stringify(kept.render))),
      notSent: wishSchema.safeParse({ trialColours: 'mauve' }).success,
      without: Object.keys(pageOptionsOf(scrapeRequestSchema.parse({ url }))).includes('trialReferrer'),
      plainHttp: scrapeRequestSchema.safeParse({ ...given, engine: 'http' }).error.issues[0].path,
      refusals: [
        messageOf(() => bodyFor(request, new URL(url))),
        messageOf(() => orderFor(request, () => 'jar')),
      ],
    }));
  `);
  const { refusals, ...rest } = JSON.parse(found);
  expect(rest).toEqual({
    trialReferrer: 'https://before.example/',
    render: { trialColours: 'dark' },
    sent: { trialColours: 'dark' },
    notSent: false,
    without: false,
    plainHttp: ['trialColours'],
  });
  for (const refusal of refusals) expect(refusal).toContain('choose colours');
});

it('one more option of a crawl comes from its flag, and cannot change when the crawl is resumed', async () => {
  const told = await tree.evaluate(`
    import { crawlCommandOf, resumedOptions } from './src/cli/crawl/crawl-request.ts';
    import { draftCrawl } from './src/capabilities/jobs/accept/job-draft.ts';
    const urls = ['https://example.com/'];
    const obeyed = { robots: true, obeyNofollow: true, obeyNoindex: true, followCanonical: true, avoidQueryTraps: true };
    const { request, operator } = crawlCommandOf(urls, { ...obeyed, trialColours: 'dark', trialReferrer: 'https://a.example/' });
    const { options } = draftCrawl(request, () => true, operator);
    const resume = (flags) => {
      try {
        resumedOptions({ seeds: urls, options }, [], { ...obeyed, ...flags }, true);
        return 'resumed';
      } catch (error) {
        return error.message;
      }
    };
    const all = [resume({ trialColours: 'dark' }), resume({ trialColours: 'light' }), resume({ trialReferrer: 'https://b.example/' })];
    console.log(JSON.stringify(all));
  `);
  expect(JSON.parse(told)).toEqual([
    'resumed',
    expect.stringContaining('--trial-colours: "dark"'),
    expect.stringContaining('--trial-referrer: "https://a.example/"'),
  ]);
});

it('one more job kind is started by the API and by schedules, and is a filter of lists', async () => {
  const { components, paths } = JSON.parse(document);
  expect(paths['/v1/probe'].post.operationId).toBe('startProbe');
  expect(components.schemas.Job.properties.kind.enum).toContain('probe');
  expect(components.schemas.ScheduledProbe.properties.kind.const).toBe('probe');
  expect(JSON.stringify(components.schemas.ScheduledJob)).toContain('ScheduledProbe');
  expect(components.schemas.ProbeRequest.properties.urls.maxItems).toBe(10);
  expect(JSON.stringify(paths['/v1/jobs'].get.parameters)).toContain('"probe"');
});

it('one more job kind is drawn up, ranked and counted by its traits, and offered by the command line', async () => {
  const found = await tree.evaluate(`
    import { Command } from 'commander';
    import { withRules } from './src/cli/flags/schedule-flags.ts';
    import { draftOf } from './src/capabilities/jobs/accept/job-draft.ts';
    import { JOB_REQUESTS } from './src/capabilities/jobs/request/job-request.ts';
    import { FETCHING_GIVEN } from './src/core/model/job-kinds.ts';
    import { rankOf } from './src/core/model/turns.ts';
    import { createMetrics } from './src/core/observe/metrics.ts';
    const request = JOB_REQUESTS.probe.parse({ urls: ['https://example.com/'] });
    const { kind, tasks } = draftOf({ kind: 'probe', request }, () => false);
    const command = new Command('create');
    withRules(command);
    console.log(JSON.stringify({
      kind,
      tasks: tasks.length,
      rank: rankOf({ kind, size: 1 }, 5_000),
      isGiven: FETCHING_GIVEN.includes('probe'),
      help: command.helpInformation().replaceAll(/\\s+/g, ' '),
      metrics: await createMetrics({ withProcess: false }).render(),
    }));
  `);
  const { help, metrics, ...rest } = JSON.parse(found);
  expect(rest).toEqual({ kind: 'probe', tasks: 1, rank: 0, isGiven: true });
  expect(help).toContain('"crawl", "probe"');
  expect(metrics).toContain('scrapifie_jobs_accepted_total{kind="probe"} 0');
});

it('one more format is one of the requests and answers of the API', async () => {
  const { components } = JSON.parse(document);
  for (const name of ['ExportRequest', 'Export']) {
    expect(components.schemas[name].properties.format.enum, name).toContain('tsv');
  }
  expect(components.schemas.ExportRequest.properties.format.description).toContain('`csv` `tsv` `xlsx`');
  expect(JSON.stringify(components.schemas.JobExport)).toContain('"tsv"');
});

it('one more format is one of the choices of tools for language models, and is written', async () => {
  const found = await tree.evaluate(`
    import { loadWriter } from './src/capabilities/exports/write-export.ts';
    import { exportJob } from './src/http/mcp/tools/jobs.ts';
    const { write } = await loadWriter('tsv');
    let written = '';
    for await (const bytes of write({ columns: [{ name: 'url' }, { name: 'price' }] })) written += bytes.toString();
    console.log(JSON.stringify({ written, choices: exportJob.input.shape.format.unwrap().options }));
  `);
  expect(JSON.parse(found)).toEqual({ written: 'url\tprice', choices: expect.arrayContaining(['tsv']) });
});

it('one more entry is in the docs, and in the lists, the forms and the copies of jobs of the dashboard', async () => {
  await tree.run('scripts/write-docs.ts');
  expect(await tree.read('docs/scrape-options.md')).toMatch(
    /\| `trialColours` +\| all +\| Colours that pages are shown in\. /,
  );
  expect(await tree.read('docs/command-line.md')).toMatch(
    /\| `trialColours` +\| scrape, crawl, map \| `--trial-colours` /,
  );
  const choices = await tree.read('dashboard/src/api/choices.ts');
  expect(choices).toContain('"path":"trialColours","label":"Colours"');
  expect(choices).toContain('"name":"trialColours","stored":"render.trialColours"');
  expect(choices).toContain('"name":"trialReferrer","stored":"trialReferrer"');
  expect(await tree.read('docs/exports.md')).toMatch(/\| `tsv` +\| tables \| tabs between the cells/);
  expect(choices).toContain('"value":"tsv","label":"TSV"');
  expect(choices).toContain('"value":"probe","label":"Probe"');
});
