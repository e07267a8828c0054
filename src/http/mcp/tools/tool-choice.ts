import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Tool } from '../tool.ts';
import { crawl, crawlStatus, diff, search } from './crawls.ts';
import {
  batch,
  exportJob,
  exportStatus,
  jobCancel,
  jobErrors,
  jobList,
  jobResume,
  jobRetry,
  usage,
  why,
} from './jobs.ts';
import {
  monitorChanges,
  monitorCreate,
  monitorDelete,
  monitorList,
  scheduleCreate,
  scheduleDelete,
  scheduleList,
} from './monitors.ts';
import { extract, map, scrape, screenshot } from './reading.ts';
import { pageHistory, pageVersion, query, sql, versionDiff } from './stored.ts';

/** Tools by group. A client gets the group `default` unless it names others: each tool costs tokens in every conversation. */
export const TOOL_GROUPS: Readonly<Record<string, readonly Tool[]>> = {
  default: [scrape, map, crawl, crawlStatus, extract, search, diff, screenshot],
  jobs: [jobList, batch, jobCancel, jobResume, jobRetry, jobErrors, why, usage],
  exports: [exportJob, exportStatus],
  monitors: [monitorList, monitorCreate, monitorChanges, monitorDelete],
  schedules: [scheduleList, scheduleCreate, scheduleDelete],
  queries: [query, sql],
  history: [pageHistory, pageVersion, versionDiff],
};

const ALL = Object.values(TOOL_GROUPS).flat();

/**
 * The tools that a list of names and groups means, such as `default,monitors` or `scrape,search`; `all` is every tool, and an empty list
 * the group `default`.
 * Throws `code` for a name that is none.
 */
export function toolsNamed(
  names: readonly string[],
  code: 'INVALID_USAGE' | 'VALIDATION_FAILED',
): readonly Tool[] {
  const chosen = new Set<Tool>();
  for (const name of names.map((each) => each.trim()).filter((each) => each !== '')) {
    const single = ALL.filter((each) => each.name === name);
    const meant = name === 'all' ? ALL : Object.hasOwn(TOOL_GROUPS, name) ? TOOL_GROUPS[name] : single;
    if (meant === undefined || meant.length === 0) throw new ScrapifieError(code, noSuchTool(name));
    for (const each of meant) chosen.add(each);
  }
  return chosen.size === 0 ? toolsNamed(['default'], code) : ALL.filter((each) => chosen.has(each));
}

function noSuchTool(name: string): string {
  const groups = Object.keys(TOOL_GROUPS).join(', ');
  const tools = ALL.map((each) => each.name).join(', ');
  return `There is no tool or group "${name}". Groups: ${groups}, all. Tools: ${tools}.`;
}
