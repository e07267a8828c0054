import { type Evidence, forgottenIn, overlaps, type Violation } from './evidence.ts';
import type { CallRecord, History } from './history.ts';

const spanOf = ({ at, endedAt }: CallRecord) => ({ from: at, until: endedAt });

/** What clients were answered: the same to the same question, and nothing that does not hold afterwards. */
export function checkCalls(history: History, evidence: Evidence): Violation[] {
  const jobs = Map.groupBy(history.calls, ({ job }) => job);
  return [
    ...[...jobs.values()].flatMap((calls) => [
      ...checkSameAnswers(calls, history, evidence),
      ...checkScrapes(calls, history),
      ...checkGone(calls, history, evidence),
      ...checkQuiet(calls, history, evidence),
    ]),
    ...checkStored(history),
  ];
}

/** The first answer under a key is the answer, unless the store has forgotten it. */
function checkSameAnswers(
  calls: readonly CallRecord[],
  { actions }: History,
  { at, near }: Evidence,
): Violation[] {
  const wrong: Violation[] = [];
  let first: CallRecord | null = null;
  for (const call of calls) {
    if ((call.what !== 'accept' && call.what !== 'scrape') || call.answer === null || call.status >= 300)
      continue;
    if (first !== null && first.answer !== call.answer) {
      // The first answer was given before the store went back, and this one after that.
      const isForgotten = actions.some(
        (action) =>
          action.forgets === true &&
          overlaps(action, { from: first?.at ?? 0, until: first?.endedAt ?? 0 }) &&
          call.endedAt >= action.from,
      );
      const what = `${call.job} was answered “${first.answer}” at ${at(first.endedAt)} and “${call.answer}” at ${at(call.endedAt)}`;
      if (!isForgotten) wrong.push({ check: 'idempotency', what: `${what}; ${near(call.endedAt)}` });
      first = call;
    }
    first ??= call;
  }
  return wrong;
}

/** Every scrape is answered with the right page; one whose job the store has forgotten is asked for again. */
function checkScrapes(calls: readonly CallRecord[], { actions }: History): Violation[] {
  const isWrong = (call: CallRecord) =>
    call.status === 200 ? !call.answer?.includes(' right ') : !forgottenIn(actions, spanOf(call));
  return calls
    .filter((call) => call.what === 'scrape' && isWrong(call))
    .map(({ job, status, answer }) => ({
      check: 'result',
      what: `${job} was answered ${status}: ${answer}`,
    }));
}

/** A job that was accepted is there until it is deleted. */
function checkGone(calls: readonly CallRecord[], { actions }: History, { at, near }: Evidence): Violation[] {
  return calls
    .filter(({ what }) => what === 'gone')
    .filter((gone) => {
      const accepted = calls.filter(
        ({ what, answer, endedAt }) => what === 'accept' && answer === gone.answer && endedAt <= gone.endedAt,
      );
      return !accepted.some((call) => forgottenIn(actions, spanOf(call)));
    })
    .map(({ job, endedAt }) => ({
      check: 'lost',
      what: `${job} was accepted and gone at ${at(endedAt)}; ${near(endedAt)}`,
    }));
}

/** A cancelled job that has ended asks for nothing until it is resumed. */
function checkQuiet(calls: readonly CallRecord[], history: History, { at, near }: Evidence): Violation[] {
  const [{ job = '' } = {}] = calls;
  const ownPath = history.jobs.find(({ name }) => name === job)?.ownPath ?? null;
  if (ownPath === null) return [];
  return calls.flatMap((quiet, index) => {
    if (quiet.what !== 'quiet') return [];
    const cancel = calls.slice(0, index).findLast(({ what }) => what === 'cancel') ?? quiet;
    const resume = calls.slice(index).find(({ what }) => what === 'resume');
    if (resume === undefined || forgottenIn(history.actions, { from: cancel.at, until: resume.endedAt }))
      return [];
    return history.requests
      .filter(({ at: time, path }) => time > quiet.endedAt && time < resume.at && path.startsWith(ownPath))
      .map(({ at: time, worker, path, host }) => ({
        check: 'cancelled',
        what: `${worker} asked for http://${host}${path} at ${at(time)} for ${job}, which was cancelled; ${near(time)}`,
      }));
  });
}

/** The store has the jobs that clients were told of, each once, and no others. */
function checkStored({ stored, calls, jobs, actions }: History): Violation[] {
  const known = new Set([
    ...jobs.map(({ id }) => id),
    ...calls.flatMap(({ answer }) => answer?.split(' ')[0] ?? []),
  ]);
  const there = new Set(stored);
  const lost = calls.filter(({ what, status, answer, ...call }) => {
    if (what !== 'scrape' || status !== 200) return false;
    return (
      !there.has(answer?.split(' ')[0] ?? '') && !forgottenIn(actions, { from: call.at, until: call.endedAt })
    );
  });
  return [
    ...stored
      .filter((id) => !known.has(id))
      .map((id) => ({ check: 'twice', what: `the store has a job ${id} that no client was told of` })),
    ...lost.map(({ job, answer }) => ({ check: 'lost', what: `the store no longer has ${job} (${answer})` })),
  ];
}
