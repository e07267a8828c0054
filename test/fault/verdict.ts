import type { KillReport, Outcome } from './kill-crawl.ts';

/** Everything that a crawl which was killed must not show, in words; nothing when all is well. */
export function problemsOf({ disturbed, undisturbed, ...lives }: KillReport): string[] {
  const problems: string[] = [];
  const check = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem);
  };
  const list = (paths: readonly string[]) => `${paths.length} (${paths.slice(0, 5).join(', ')})`;
  check(disturbed.job.status === 'completed', `the job is ${disturbed.job.status}`);
  check(JSON.stringify([...disturbed.urls]) === JSON.stringify([...undisturbed.urls]), differences());
  const twice = disturbed.pages.filter((path, at) => disturbed.pages.indexOf(path) !== at);
  check(twice.length === 0, `pages stored twice: ${list(twice)}`);
  check(disturbed.lostBodies.length === 0, `bodies that are gone: ${list(disturbed.lostBodies)}`);
  for (const problem of miscounted(disturbed)) problems.push(problem);
  const { repeatedInOneLife, repeatedAfterEnd, mostPerUrl, kills } = lives;
  check(repeatedInOneLife.length === 0, `asked for twice in one life: ${list(repeatedInOneLife)}`);
  check(repeatedAfterEnd.length === 0, `asked for again after they had ended: ${list(repeatedAfterEnd)}`);
  check(mostPerUrl <= 1 + kills, `one URL was asked for ${mostPerUrl} times`);
  return problems;

  function differences(): string {
    const missing = [...undisturbed.urls.keys()].filter((path) => !disturbed.urls.has(path));
    const extra = [...disturbed.urls.keys()].filter((path) => !undisturbed.urls.has(path));
    const other = [...disturbed.urls].filter(([path, { state, contentHash }]) => {
      const wanted = undisturbed.urls.get(path);
      return wanted !== undefined && (wanted.state !== state || wanted.contentHash !== contentHash);
    });
    return `missing ${list(missing)}, extra ${list(extra)}, different ${list(other.map(([path]) => path))}`;
  }
}

/** The counters against the ledger they are about. */
function miscounted({ job, urls, pages }: Outcome): string[] {
  const { counters } = job;
  const inState = (state: string) => [...urls.values()].filter((each) => each.state === state).length;
  const wanted: Partial<typeof counters> = {
    known: urls.size,
    open: 0,
    claimed: 0,
    pages: inState('done'),
    done: inState('done'),
    failed: inState('failed'),
    skipped: inState('skipped'),
    denied: inState('denied'),
    cancelled: inState('cancelled'),
  };
  const wrong = Object.entries(wanted)
    .filter(([name, value]) => counters[name as keyof typeof counters] !== value)
    .map(([name, value]) => `${name} is ${counters[name as keyof typeof counters]}, counted ${value}`);
  if (pages.length !== counters.pages) wrong.push(`${pages.length} pages stored, ${counters.pages} counted`);
  return wrong;
}
