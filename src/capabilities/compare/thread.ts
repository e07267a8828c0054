import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { comparePages, fingerprintOf, watchPage } from '../../extract/diff/compare-pages.ts';
import { compileDiffRules } from '../../extract/diff/diff-rules.ts';
import { diffDocuments } from '../../extract/diff/html-diff.ts';
import { diffJson } from '../../extract/diff/json-diff.ts';
import { answerCalls } from '../../lib/threads/answer-calls.ts';
import type { DiffTasks } from './diff-lane.ts';

/** Compares in a thread of its own: what strangers wrote may take seconds and hundreds of megabytes. */
const now = () => performance.now();

answerCalls<DiffTasks>({
  pages: ({ a, b, rules, options }) => comparePages(a, b, compileDiffRules(rules), now, options),
  sameAs({ page, others, rules }) {
    const compiled = compileDiffRules(rules);
    const wanted = fingerprintOf(watchPage(page, compiled, now));
    const at = others.findIndex((other) => fingerprintOf(watchPage(other, compiled, now)) === wanted);
    return at < 0 ? null : at;
  },
  watch: ({ page, rules }) => watchPage(page, compileDiffRules(rules), now),
  html: ({ a, b, rules }) => diffDocuments(a, b, compileDiffRules(rules), now),
  json: ({ a, b, ignoredFields }) => diffJson(parsed(a, ignoredFields), parsed(b, ignoredFields)),
});

function parsed(text: string, ignoredFields: readonly string[]): unknown {
  const value = jsonOf(text);
  if (ignoredFields.length === 0 || typeof value !== 'object' || value === null || Array.isArray(value))
    return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !ignoredFields.includes(name)));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ScrapifieError('UNSUPPORTED_OPTION', 'One of the bodies is not JSON.');
  }
}
