import {
  decideChange,
  EMPTY_STATE,
  type Observation,
  type PageChange,
} from '../../../src/capabilities/monitors/decide-change.ts';
import { MOST_ROUNDS } from '../../../src/capabilities/monitors/evaluate-check.ts';
import { compareContents, linesOf } from '../../../src/capabilities/monitors/watched-lines.ts';
import type { ChangeRules, PageState } from '../../../src/core/model/monitor.ts';
import { watchPage } from '../../../src/extract/diff/compare-pages.ts';
import { compileDiffRules, DEFAULT_RULES, type DiffRules } from '../../../src/extract/diff/diff-rules.ts';
import { classify } from '../../../src/fetch/classify/classify.ts';
import { randomFrom } from '../../site/random.ts';
import type { Facts, Template } from './page-templates.ts';

/**
 * A week of one page, visited by a monitor as often as its schedule says and again where the monitor is not sure. The page
 * is made anew for every visit, classified and read as a crawl would, and the site knows what it really said.
 */
export interface WeekOptions {
  readonly template: Template;
  readonly seed: number;
  readonly everyMs: number;
  readonly days: number;
  readonly rules?: ChangeRules;
}

export interface WeekReport {
  readonly visits: number;
  readonly realChanges: number;
  /** Real changes that stood for long enough to be seen, and were not told. */
  readonly missed: readonly string[];
  /** Told without a real change. */
  readonly falseEvents: readonly string[];
  /** True changes that were told together with what is none. */
  readonly noisyEvents: readonly string[];
  readonly trueEvents: number;
  /** First sights of a variant of a test. */
  readonly variantEvents: readonly string[];
  readonly failures: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const RECHECK_MS = 30_000;
/** Good visits after which a change must have been told. */
const LEAST_VISITS = 12;
const DEFAULTS: ChangeRules = { confirm: 3, settleMs: 6 * HOUR_MS, failAfter: 3, learnNoise: true };
const START = Date.UTC(2026, 0, 5, 7, 3);

interface Stretch {
  readonly from: number;
  readonly to: number;
}

type Mishap = Stretch & {
  readonly kind: 'outage' | 'block' | 'softBlock' | 'notFound' | 'login' | 'half' | 'blank';
};

const BLOCK = `<html><head><title>Just a moment...</title></head><body><h1>Checking your browser before accessing</h1>
<div id="cf-challenge-running"></div><script src="/cdn-cgi/challenge-platform/h/b/orchestrate/jsch/v1"></script></body></html>`;
/** A page of a firewall that no list knows, of a length that makes it look like one of the site. */
const SOFT_BLOCK = `<html><head><title>Service notice</title></head><body><h1>Service notice</h1>${Array.from({ length: 30 }, (_, at) => `<p>Our systems have noticed unusual traffic from your network, case ${at}. Please come back later or contact the support of this site.</p>`).join('')}</body></html>`;
const LOGIN = `<html><head><title>Sign in</title></head><body><form action="/login" method="post"><label>Name<input name="user"></label><label>Password<input type="password" name="password"></label><button>Sign in</button></form></body></html>`;

export function simulateWeek({ template, seed, everyMs, days, rules = DEFAULTS }: WeekOptions): WeekReport {
  const chance = randomFrom(seed * 7_919 + 13);
  const end = START + days * 24 * HOUR_MS;
  const history = makeHistory(template, chance, end);
  const mishaps = makeMishaps(chance, end);
  const compiled = compileDiffRules(DEFAULT_RULES);
  let state: PageState = EMPTY_STATE;
  let visits = 0;
  let failures = 0;
  const goodVisits: number[] = [];
  const told: { readonly at: number; readonly change: PageChange; readonly facts: Facts }[] = [];

  function visit(at: number): boolean {
    visits += 1;
    const facts = history.findLast(({ from }) => from <= at)?.facts ?? {};
    const seen = fetchPage(template, seed, at, visits, facts, chance, mishaps);
    const observation = observationOf(seen, at, compiled);
    if (observation.kind === 'content' && seen.isGood) goodVisits.push(at);
    const decision = decideChange(
      state,
      observation,
      rules,
      (before, after) => compareContents(before, after, DEFAULT_RULES as DiffRules).isChanged,
    );
    state = decision.state ?? EMPTY_STATE;
    if (decision.trouble === 'failed') failures += 1;
    if (decision.change !== null) told.push({ at, change: decision.change, facts });
    return decision.needsRecheck;
  }

  for (let at = START; at < end; at += everyMs) {
    // A schedule is never on the second.
    const jitter = Math.floor(chance() * 4_000);
    let again = visit(at + jitter);
    for (let round = 1; again && round <= MOST_ROUNDS; round += 1)
      again = visit(at + jitter + round * RECHECK_MS);
  }
  return { visits, failures, ...verdict(template, history, told, goodVisits, end) };
}

interface Period {
  readonly from: number;
  readonly facts: Facts;
}

/** What the page really said when: some changes, each of one fact, a few of them back to what was before. */
function makeHistory(template: Template, chance: () => number, end: number): readonly Period[] {
  const periods: Period[] = [{ from: 0, facts: template.facts(chance) }];
  const count = Math.floor(chance() * 5);
  const times = Array.from(
    { length: count },
    () => START + 2 * HOUR_MS + chance() * (end - START - 16 * HOUR_MS),
  ).sort((a, b) => a - b);
  for (const from of times) {
    const last = periods.at(-1) as Period;
    // Two changes at about the same time are one change to those who look.
    if (from - last.from < 8 * HOUR_MS) continue;
    const before = periods.at(-2);
    if (before !== undefined && chance() < 0.25) {
      periods.push({ from, facts: before.facts });
      continue;
    }
    const names = Object.keys(last.facts);
    const name = names[Math.floor(chance() * names.length)] ?? '';
    periods.push({ from, facts: { ...last.facts, [name]: changedFact(last.facts[name] ?? '', chance) } });
  }
  return periods;
}

/** Another number, two digits that changed places, or other words. */
function changedFact(fact: string, chance: () => number): string {
  const kind = Math.floor(chance() * 3);
  const digits = /\d{2,}/.exec(fact)?.[0];
  if (kind === 0 && digits !== undefined && digits[0] !== digits[1]) {
    return fact.replace(digits, `${digits[1]}${digits[0]}${digits.slice(2)}`);
  }
  if (kind === 1 && /\d/.test(fact)) return fact.replace(/\d+/, (number) => String(Number(number) + 1));
  return `${fact} (revised ${Math.floor(chance() * 1e6).toString(36)})`;
}

function makeMishaps(chance: () => number, end: number): readonly Mishap[] {
  const kinds = ['outage', 'block', 'softBlock', 'notFound', 'login', 'half', 'blank'] as const;
  return Array.from({ length: 8 }, () => {
    const from = START + chance() * (end - START);
    const kind = kinds[Math.floor(chance() * kinds.length)] ?? 'outage';
    return { from, to: from + (10 + chance() * 110) * MINUTE_MS, kind };
  });
}

interface FetchedPage {
  readonly statusCode: number;
  readonly html: string;
  /** Null: no answer came. */
  readonly isAnswered: boolean;
  /** What came is the page, whole. */
  readonly isGood: boolean;
}

function fetchPage(
  template: Template,
  seed: number,
  at: number,
  visits: number,
  facts: Facts,
  random: () => number,
  mishaps: readonly Mishap[],
): FetchedPage {
  const variant = template.variants[Math.floor(random() * template.variants.length)] ?? '';
  const html = template.html({ at, random, visits: 120_000 + visits * 17, facts, variant }, seed);
  const bad = (statusCode: number, body: string) => ({
    statusCode,
    html: body,
    isAnswered: true,
    isGood: false,
  });
  switch (mishaps.find(({ from, to }) => at >= from && at < to)?.kind) {
    case 'outage':
      return random() < 0.5 ? { ...bad(0, ''), isAnswered: false } : bad(503, '<h1>Service Unavailable</h1>');
    case 'block':
      return bad(403, BLOCK);
    case 'softBlock':
      return bad(200, SOFT_BLOCK);
    case 'notFound':
      return bad(404, '<h1>Not found</h1>');
    case 'login':
      return bad(200, LOGIN);
    case 'half':
      return bad(200, html.slice(0, html.length * (0.2 + random() * 0.5)));
    case 'blank':
      return bad(200, '<html><body></body></html>');
    default:
      // Now and then a part of the page is missing.
      return random() < 0.01
        ? bad(200, html.slice(0, html.length * (0.3 + random() * 0.4)))
        : { ...bad(200, html), isGood: true };
  }
}

function observationOf(
  { statusCode, html, isAnswered }: FetchedPage,
  at: number,
  compiled: ReturnType<typeof compileDiffRules>,
): Observation {
  if (!isAnswered) return { kind: 'failed', at, reason: 'CONNECT_FAILED' };
  const url = 'https://site.example/page';
  const bytes = Buffer.byteLength(html);
  const contentType = 'text/html; charset=utf-8';
  const { outcome } = classify({
    url,
    finalUrl: url,
    statusCode,
    headers: { 'content-type': contentType },
    contentType,
    bytes,
    html,
    facts: null,
  });
  if (statusCode === 404 || outcome === 'soft-404') return { kind: 'gone', at };
  if (statusCode >= 400 || outcome !== 'ok') return { kind: 'failed', at, reason: outcome };
  const title = /<title>(.*?)<\/title>/.exec(html)?.[1] ?? null;
  const view = { url, body: html, isHtml: true, textHash: null, fields: { title }, screenshot: null };
  const lines = linesOf(watchPage(view, compiled, () => 0));
  return { kind: 'content', content: { at, lines }, title, source: null };
}

function verdict(
  template: Template,
  history: readonly Period[],
  told: readonly { readonly at: number; readonly change: PageChange; readonly facts: Facts }[],
  goodVisits: readonly number[],
  end: number,
) {
  const allFacts = new Set(history.flatMap(({ facts }) => Object.values(facts)));
  const isFact = (line: string) => [...allFacts].some((fact) => line.includes(fact));
  const variants = [...template.variants, ...(template.rotating ?? [])];
  const isVariant = (line: string) => variants.some((variant) => line.includes(variant));
  const [falseEvents, noisyEvents, variantEvents]: [string[], string[], string[]] = [[], [], []];
  const toldFacts = new Set<string>();
  let trueEvents = 0;
  for (const { at, change } of told) {
    const added = change.after.filter((line) => !change.before.includes(line));
    const removed = change.before.filter((line) => !change.after.includes(line));
    const all = [...added, ...removed];
    const shown = `${new Date(at).toISOString()} ${change.kind} +${JSON.stringify(added)} -${JSON.stringify(removed)}`;
    const real = all.filter(isFact);
    if (real.length === 0) {
      if (all.length > 0 && all.every(isVariant)) variantEvents.push(added.join('|'));
      else falseEvents.push(shown);
      continue;
    }
    trueEvents += 1;
    for (const line of added) toldFacts.add(`${line}@${periodAt(history, at)}`);
    if (all.some((line) => !isFact(line) && !isVariant(line))) noisyEvents.push(shown);
  }
  const missed = history.slice(1).flatMap(({ from, facts }, index) => {
    const former = history[index]?.facts ?? {};
    const to = history[index + 2]?.from ?? end;
    const seen = goodVisits.filter((at) => at >= from && at < to).length;
    const names = Object.keys(facts).filter((name) => facts[name] !== former[name]);
    const isTold = names.some((name) =>
      [...toldFacts].some((line) => line.includes(facts[name] ?? '') && line.endsWith(`@${index + 1}`)),
    );
    if (seen < LEAST_VISITS || names.length === 0 || isTold) return [];
    return [
      `${new Date(from).toISOString()} ${names.map((name) => facts[name]).join(', ')} (${seen} good visits)`,
    ];
  });
  return { realChanges: history.length - 1, missed, falseEvents, noisyEvents, trueEvents, variantEvents };
}

const periodAt = (history: readonly Period[], at: number): number =>
  history.findLastIndex(({ from }) => from <= at);
