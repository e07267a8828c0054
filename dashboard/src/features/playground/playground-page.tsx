import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { Play, Save, Square } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useCan } from '../../app/session-context.ts';
import { fullUrl } from '../../format/full-url.ts';
import { Button } from '../../kit/button.tsx';
import { CodeSamples } from '../../kit/code-samples.tsx';
import { Field, Segmented, TextInput } from '../../kit/field.tsx';
import { Card, PageHeader } from '../../kit/layout.tsx';
import { Notice } from '../../kit/states.tsx';
import styles from './playground.module.css';
import { OPTION_FIELDS, type ScrapeBody } from './request/option-fields.ts';
import { type Draft, type DraftValue, messageAt, type Problems, placeOf } from './request/request-draft.ts';
import { RequestForm } from './request/request-form.tsx';
import { storedRunQuery } from './result/run.ts';
import { ResultArea } from './result-area.tsx';
import { type PlaygroundSearch, playgroundRoute, type ResultTab } from './routes.ts';
import { SaveDialog } from './save/save-dialog.tsx';
import { useRequest } from './use-request.ts';
import { type RunState, useRun } from './use-run.ts';

/** What the server found wrong, at the options that it names, in the order of the form. */
function serverProblems(state: RunState): Problems {
  if (state.kind !== 'failed') return {};
  const found = new Map<string, string>();
  for (const { field, message } of state.error.problems) {
    const path = placeOf(field);
    if (path !== null && !found.has(path)) found.set(path, messageAt(path, field, message));
  }
  const order = ['url', ...OPTION_FIELDS.map(({ path }) => path)];
  return Object.fromEntries([...found].toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b)));
}

const withFormat = (draft: Draft, format: string): readonly string[] => [
  ...new Set([...(Array.isArray(draft.formats) ? draft.formats.map(String) : []), format]),
];

/** One page with all options, its result from every side, and the way from there to a job, a schedule or a monitor. */
export function PlaygroundPage() {
  const search = playgroundRoute.useSearch();
  const navigate = playgroundRoute.useNavigate();
  const canScrape = useCan('scrape');
  const request = useRequest();
  const { state, start, cancel } = useRun();
  const [look, setLook] = useState<'options' | 'code'>('options');
  const [isSaving, setIsSaving] = useState(false);
  const [isChecked, setIsChecked] = useState(false);
  const [isStale, setIsStale] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const stored = useQuery({
    ...storedRunQuery(search.job ?? ''),
    enabled: search.job !== undefined && state.kind === 'idle',
  });
  const found = isStale ? {} : serverProblems(state);
  const problems = { ...found, ...(isChecked ? request.problems : {}) };
  const firstProblem = Object.keys(problems)[0];

  // The first wrong field is shown and takes the focus.
  useEffect(() => {
    if (firstProblem === undefined) return;
    setLook('options');
    requestAnimationFrame(() => {
      const wrong = form.current?.querySelector<HTMLElement>(`[data-option="${CSS.escape(firstProblem)}"]`);
      wrong?.scrollIntoView({ block: 'nearest' });
      wrong?.querySelector<HTMLElement>('input, select, textarea, [contenteditable="true"]')?.focus();
    });
  }, [firstProblem]);

  const set = (path: string, value: DraftValue) => {
    setIsStale(true);
    request.set(path, value);
  };
  const setSearch = (change: Partial<PlaygroundSearch>) =>
    navigate({
      search: (before) => ({ ...before, ...change }),
      replace: true,
      resetScroll: false,
    });

  const run = async (event?: FormEvent) => {
    event?.preventDefault();
    setIsChecked(true);
    if (Object.keys(request.problems).length > 0) return;
    setIsChecked(false);
    setIsStale(false);
    // On a phone the result stands below the options.
    if (matchMedia('(max-width: 980px)').matches) {
      form.current?.querySelector('[data-result]')?.scrollIntoView({ block: 'start' });
    }
    const ended = await start(request.body as ScrapeBody);
    if (ended.kind === 'done') await setSearch({ job: ended.run.jobId });
  };

  // The page that led here asks for a run; the form has the URL of the address a moment later.
  const isAsked = useLocation({ select: ({ state: asked }) => asked.run === true });
  const isReady = request.body.url === fullUrl(search.url ?? '');
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that it is asked
  useEffect(() => {
    if (!isAsked || !isReady || !canScrape) return;
    void setSearch({});
    void run();
  }, [isAsked, isReady]);
  const runSample = () =>
    navigate({
      search: (before) => ({ ...before, url: new URL('/sample', location.href).href }),
      state: { run: true },
      replace: true,
    });

  return (
    <>
      <form ref={form} onSubmit={run} noValidate>
        <PageHeader
          title="Playground"
          about="Try a page with any option, see everything that comes back and why, then use it for more."
          actions={
            <Button
              icon={Save}
              onClick={() => setIsSaving(true)}
              disabled={request.problems.url !== undefined}
            >
              Save as…
            </Button>
          }
        />
        <div className={styles.bar} data-option="url">
          <Field label="URL" isLabelHidden error={problems.url} className={styles.url}>
            <TextInput
              type="url"
              inputMode="url"
              placeholder="https://example.com/"
              value={String(request.draft.url ?? '')}
              onChange={(event) => set('url', event.target.value)}
            />
          </Field>
          {/* Keys keep them two buttons: a click on the first that became the second would submit the form. */}
          {state.kind === 'running' ? (
            <Button key="cancel" icon={Square} onClick={cancel}>
              Cancel
            </Button>
          ) : (
            <Button key="run" kind="primary" icon={Play} type="submit" disabled={!canScrape}>
              Run
            </Button>
          )}
        </div>
        {!canScrape && (
          <Notice tone="warn">
            This key may not fetch pages. Sign in with a key that has the scope “scrape”.
          </Notice>
        )}
        <div className={styles.columns}>
          <Card
            className={styles.request}
            isFlush
            title="Request"
            actions={
              <Segmented
                label="How the request is shown"
                value={look}
                onChange={setLook}
                options={[
                  { value: 'options', label: 'Options' },
                  { value: 'code', label: 'Code' },
                ]}
              />
            }
          >
            {look === 'options' ? (
              <RequestForm draft={request.draft} problems={problems} onChange={set} />
            ) : (
              <div className={styles.code}>
                <CodeSamples request={{ method: 'POST', path: '/v1/scrape', body: request.body }} />
              </div>
            )}
            {request.leftOut.length > 0 && (
              <div className={styles.leftOut}>
                <Notice>{`Not part of this page’s address, so that a shared link has no secrets: ${request.leftOut.join(', ')}.`}</Notice>
              </div>
            )}
          </Card>
          <ResultArea
            state={state}
            stored={search.job === undefined ? null : stored}
            tab={search.tab ?? 'page'}
            onTab={(tab: ResultTab) => void setSearch({ tab })}
            rules={String(request.draft['extract.rules'] ?? '')}
            onRules={(rules) => set('extract.rules', rules)}
            onAskNetwork={() => set('formats', withFormat(request.draft, 'xhr'))}
            onExample={() => void runSample()}
            onRetry={() => void run()}
          />
        </div>
      </form>
      {/* Outside of the form: React hands the submit of a form within it on, even from a dialog. */}
      <SaveDialog isOpen={isSaving} onClose={() => setIsSaving(false)} body={request.body} />
    </>
  );
}
