import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DASHBOARDS } from '../../scripts/grafana/dashboards.ts';
import { dashboardJson } from '../../scripts/grafana/panels.ts';
import type { Job } from '../../src/core/model/job.ts';
import { createMetrics } from '../../src/core/observe/metrics.ts';
import { type ApiWorld, openApiWorld } from '../integration/api-world.ts';
import { type ReadQuery, readQuery, withoutVariables } from './promql.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROMETHEUS = join(ROOT, 'deploy/prometheus');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Family {
  readonly type: string;
  /** Names of labels, of each sample. */
  readonly labels: string[][];
}

/** The metrics of a text, each with its samples. */
function familiesOf(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  for (const line of text.split('\n')) {
    const [, name = '', type = ''] = /^# TYPE (\S+) (\S+)/.exec(line) ?? [];
    if (name !== '') families.set(name, { type, labels: [] });
    if (line === '' || line.startsWith('#')) continue;
    const [, sample = '', labels = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
    const family = families.get(sample) ?? families.get(sample.replace(/_(?:bucket|sum|count)$/, ''));
    family?.labels.push([...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, label = '']) => label));
  }
  return families;
}

/** The table of docs/metrics.md. */
function documented(): Map<
  string,
  { readonly type: string; readonly labels: string[]; readonly of: string }
> {
  const rows = read('docs/metrics.md').matchAll(/^\| `(scrapifie_\w+)` +\| (\w+) +\| (.*?) *\| (.*?) *\|/gm);
  return new Map(
    [...rows].map(([, name = '', type = '', labels = '', of = '']) => [
      name,
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label), of },
    ]),
  );
}

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly summary?: string; readonly runbook_url?: string };
}
const rulesOf = (file: string): readonly Rule[] =>
  (parse(read(`deploy/prometheus/${file}`)) as { groups: { rules: Rule[] }[] }).groups.flatMap(
    ({ rules }) => rules,
  );
const RECORDED = rulesOf('recording.yml');
const ALERTS = rulesOf('alerts.yml');

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

/** Every query that is shipped, with where it stands. */
const QUERIES: readonly { readonly where: string; readonly expr: string }[] = [
  ...RECORDED.map(({ record = '', expr }) => ({ where: record, expr })),
  ...ALERTS.map(({ alert = '', expr }) => ({ where: alert, expr })),
  ...DASHBOARDS.flatMap((source) =>
    (JSON.parse(dashboardJson(source)) as Dashboard).panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ where: `${source.name}: ${title}`, expr })),
    ),
  ),
];
/** Labels that Prometheus adds, or that every histogram has. */
const ADDED_LABELS = ['installation', 'job', 'instance', 'service', 'le'];
/** What a crawl without proxies, solvers, browsers and Redis leaves without a value. */
const WITHOUT_VALUE =
  /^scrapifie_(?:prox|captcha|redis|render|browser_replacements|exports?_|monitor|schedule_delay|credits_charged|fetch_errors|task_failures|reader_lag)/;

let world: ApiWorld;
let job: Job;
let text: string;
let families: Map<string, Family>;
beforeAll(async () => {
  world = await openApiWorld({
    site: { pages: 12 },
    metrics: createMetrics({ withProcess: true, hosts: 5 }),
  });
  job = await world.settled(
    await world.crawlNow({ urls: [`${world.site.hostUrl(1)}/big/`], sitemap: 'skip' }),
  );
  await world.send({ method: 'GET', url: '/healthz' });
  const answer = await world.send({ method: 'GET', url: '/metrics' });
  text = answer.payload;
  families = familiesOf(text);
});
afterAll(() => world.close());

const sample = (series: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1),
  );

describe('the metrics of a process that has crawled', () => {
  it('are those of docs/metrics.md, with their types and labels', () => {
    const listed = documented();
    const own = [...families.keys()].filter((name) => name.startsWith('scrapifie_'));
    const expected = [...listed].filter(([, { of }]) => of !== 'with Redis').map(([name]) => name);
    expect(own.sort()).toEqual(expected.sort());
    for (const name of own) {
      const { type, labels } = families.get(name) ?? { type: '', labels: [] };
      expect([name, type]).toEqual([name, listed.get(name)?.type]);
      for (const found of labels) {
        const kept = found.filter((label) => label !== 'le').sort();
        expect([name, kept]).toEqual([name, [...(listed.get(name)?.labels ?? [])].sort()]);
      }
    }
  });

  it('count what was crawled', () => {
    const { counters } = job;
    expect(counters.pages).toBeGreaterThan(10);
    expect(sample('scrapifie_pages_stored_total')).toBe(counters.pages);
    expect(sample('scrapifie_tasks_ended_total{state="done"}')).toBe(counters.done);
    expect(sample('scrapifie_downloaded_bytes_total{engine="http"}')).toBe(counters.bytes);
    expect(sample('scrapifie_jobs_accepted_total{kind="crawl"}')).toBe(1);
    expect(sample(`scrapifie_job_duration_seconds_count{kind="crawl",status="${job.status}"}`)).toBe(1);
    expect(sample('scrapifie_open_tasks')).toBe(0);
    expect(sample('scrapifie_queue_depth{queue="http"}')).toBe(0);
    const { host } = new URL(world.site.hostUrl(1));
    expect(sample(`scrapifie_host_pages_fetched_total{host="${host}",result="ok"}`)).toBe(
      sample('scrapifie_pages_fetched_total{engine="http",outcome="ok"}'),
    );
  });

  it('count each end of a job once, however it ended', async () => {
    const started = await world.batch({ urls: [`${world.site.hostUrl(2)}/slow/late/1500`] });
    const cancelled = await world.platform.jobs.cancel(started.id, world.account);
    const ended = await world.ended(cancelled);
    const broken = `${world.site.hostUrl(2)}/protocol/two-lengths`;
    const failed = await world.batchNow({ urls: [broken], options: { engine: 'http', maxAttempts: 1 } });
    expect([ended.status, failed.status]).toEqual(['cancelled', 'failed']);
    const count = (status: string) =>
      `scrapifie_job_duration_seconds_count{kind="batch",status="${status}"} 1\n`;
    await expect.poll(() => world.metrics.render()).toContain(count('cancelled'));
    await expect.poll(() => world.metrics.render()).toContain(count('failed'));
    const found = await world.metrics.render();
    expect(found).toMatch(/^scrapifie_task_failures_total\{code="PROTOCOL_ERROR"\} 1$/m);
    expect(found).toMatch(/^scrapifie_fetch_errors_total\{engine="http",code="PROTOCOL_ERROR"\} 1$/m);
  });

  it('come as OpenMetrics where that is asked for, with the same samples', async () => {
    const headers = { accept: 'application/openmetrics-text; version=1.0.0' };
    const answer = await world.send({ method: 'GET', url: '/metrics', headers });
    expect(answer.headers['content-type']).toContain('application/openmetrics-text; version=1.0.0');
    const names = [...answer.payload.matchAll(/^# TYPE (\S+) (\S+)/gm)].map(([, name = '', type]) =>
      type === 'counter' ? `${name}_total` : name,
    );
    expect(names.sort()).toEqual([...families.keys()].sort());
    expect(answer.payload.endsWith('\n# EOF\n')).toBe(true);
    const stored = `scrapifie_pages_stored_total ${job.counters.pages}\n`;
    expect(answer.payload).toContain(stored);
  });
});

describe('queries of dashboards, rules and alerts', () => {
  it.each(QUERIES)('$where', ({ expr }) => {
    const { problem, metrics, groupedBy } = readQuery(expr) satisfies ReadQuery;
    expect(problem).toBeNull();
    expect(metrics.length).toBeGreaterThan(0);
    const known = new Set(ADDED_LABELS);
    for (const { name, labels } of metrics) {
      const rule = RECORDED.find(({ record }) => record === name);
      const own = rule === undefined ? labelsOf(name) : readQuery(rule.expr).groupedBy;
      for (const label of own) known.add(label);
      for (const label of labels) expect([...own, ...ADDED_LABELS], name).toContain(label);
    }
    for (const label of groupedBy) expect([...known]).toContain(label);
    for (const [aggregate] of expr.matchAll(/(?<![:\w])(?:sum|max|avg|count|group)\b(?: by \([^)]*\))?/g)) {
      expect(aggregate, 'keeps installations apart').toMatch(/\binstallation\b/);
    }
  });

  it('of dashboards ask for nothing but the installations that are chosen', () => {
    const ofDashboards = QUERIES.slice(RECORDED.length + ALERTS.length);
    for (const { where, expr } of ofDashboards) {
      for (const { labels } of readQuery(expr).metrics) expect(labels, where).toContain('installation');
    }
  });

  /** The labels of a metric that this process has; fails when it has none of that name. */
  function labelsOf(name: string): readonly string[] {
    if (name === 'up') return [];
    const base = families.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '');
    const listed = documented().get(base);
    const isOfRedis = listed?.of === 'with Redis';
    const family = families.get(base);
    expect(isOfRedis || family !== undefined, `there is no metric ${name}`).toBe(true);
    if (!WITHOUT_VALUE.test(name)) expect(family?.labels.length, `${name} has no value`).toBeGreaterThan(0);
    return listed?.labels ?? [...new Set(family?.labels.flat())];
  }
});

describe('Grafana', () => {
  it.each(DASHBOARDS)('has the dashboard $name as its source says', (source) => {
    const file = `deploy/grafana/dashboards/${source.name}.json`;
    expect(read(file), 'run: node scripts/write-dashboards.ts').toBe(dashboardJson(source));
  });

  it('has no dashboard without a source, and finds them where they are', () => {
    const files = readdirSync(join(ROOT, 'deploy/grafana/dashboards')).sort();
    expect(files).toEqual(DASHBOARDS.map(({ name }) => `${name}.json`).sort());
    const { providers } = parse(read('deploy/grafana/provisioning/dashboards/scrapifie.yml')) as {
      providers: { options: { path: string } }[];
    };
    expect(providers.map(({ options }) => options.path)).toEqual(['/var/lib/grafana/dashboards']);
  });
});

describe('alerts', () => {
  // Whole addresses, because chats and pagers show them.
  const { url } = (JSON.parse(read('package.json')) as { repository: { url: string } }).repository;
  const RUNBOOKS = `${url.replace(/^git\+|\.git$/g, '')}/blob/main/docs/runbooks.md`;
  const runbooks = read('docs/runbooks.md');
  const sections = [...runbooks.matchAll(/^### (Scrapifie\w+)$/gm)].map(([, name]) => name);
  const tests = (parse(read('deploy/prometheus/alerts.test.yml')) as { tests: RuleTest[] }).tests;

  it('have a section in the runbooks each, and no section is without an alert', () => {
    expect(sections.sort()).toEqual(ALERTS.map(({ alert }) => alert).sort());
  });

  it.each(ALERTS)('$alert says what happened, how bad it is, and where to read on', (rule) => {
    expect(rule.annotations?.runbook_url).toBe(`${RUNBOOKS}#${rule.alert?.toLowerCase()}`);
    expect(rule.annotations?.summary).toMatch(/\.$/);
    expect(['critical', 'warning', 'info']).toContain(rule.labels?.severity);
  });

  it('come to chats and pagers with the address of their runbook, by installation', () => {
    const text = read('deploy/prometheus/alertmanager.yml');
    const used = [...text.matchAll(/Annotations\.(\w+)/g)].map(([, name]) => name);
    expect([...new Set(used)].sort()).toEqual(['runbook_url', 'summary']);
    const { route, inhibit_rules } = parse(text) as {
      route: { group_by: string[] };
      inhibit_rules: { equal?: string[] }[];
    };
    expect(route.group_by).toContain('installation');
    for (const { equal } of inhibit_rules) expect(equal).toEqual(['installation']);
  });

  it.each(ALERTS)('$alert has a test in which it fires and one in which it does not', ({ alert }) => {
    const cases = tests
      .flatMap((test) => test.alert_rule_test)
      .filter(({ alertname }) => alertname === alert);
    expect(cases.some(({ exp_alerts }) => exp_alerts.length > 0)).toBe(true);
    expect(cases.some(({ exp_alerts }) => exp_alerts.length === 0)).toBe(true);
  });
});

interface RuleTest {
  readonly alert_rule_test: readonly {
    readonly alertname: string;
    readonly exp_alerts: readonly unknown[];
  }[];
}

const promtool = [join(ROOT, '.tools/bin'), ...(process.env.PATH ?? '').split(delimiter)]
  .map((folder) => join(folder, 'promtool'))
  .find((path) => existsSync(path));

describe.skipIf(promtool === undefined)('promtool, or without it nothing of what follows,', () => {
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-promtool-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const run = (args: readonly string[], input = '') =>
    execFileSync(promtool ?? '', args, { cwd: dir, input, encoding: 'utf8', stdio: 'pipe' });

  it('finds nothing to complain about in /metrics', () => {
    expect(run(['check', 'metrics'], text)).toBe('');
  });

  it('accepts the settings, the rules and every query of a dashboard, and the rules pass their tests', () => {
    for (const file of ['recording.yml', 'alerts.yml', 'alerts.test.yml']) {
      copyFileSync(join(PROMETHEUS, file), join(dir, file));
    }
    writeFileSync(join(dir, 'key'), 'secret');
    const settings = read('deploy/prometheus/prometheus.yml');
    writeFileSync(join(dir, 'prometheus.yml'), settings.replace('/run/secrets/metrics-key', 'key'));
    expect(run(['check', 'config', 'prometheus.yml'])).toContain(`${ALERTS.length} rules found`);
    expect(run(['test', 'rules', 'alerts.test.yml'])).toContain('SUCCESS');
    const rules = QUERIES.map(({ expr }, index) => ({ record: `q${index}`, expr: withoutVariables(expr) }));
    writeFileSync(join(dir, 'queries.json'), JSON.stringify({ groups: [{ name: 'queries', rules }] }));
    expect(run(['check', 'rules', 'queries.json'])).toContain(`${QUERIES.length} rules found`);
  });
});
