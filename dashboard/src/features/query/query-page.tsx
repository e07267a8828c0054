import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Database, Play } from 'lucide-react';
import { useEffect, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import type { Body, Data } from '../../api/types.ts';
import { plural } from '../../format/format.ts';
import { Button } from '../../kit/button.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { CodeSamples } from '../../kit/code-samples.tsx';
import { Segmented } from '../../kit/field.tsx';
import { Card, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { Menu, MenuItem } from '../../kit/menu.tsx';
import { EmptyState, FailureNotice, Notice, Skeleton } from '../../kit/states.tsx';
import { downloadCsv } from './csv.ts';
import { EXAMPLES, LAKE_TABLES } from './examples.ts';
import { ResultChart } from './result-chart.tsx';
import { ResultTable } from './result-table.tsx';
import type { QueryLanguage } from './routes.ts';

export type QueryResult = Data<'query'>;
const route = getRouteApi('/signed-in/query');

/** The body of the request, or why the text is none. */
function bodyOf(language: QueryLanguage, text: string): Body<'query'> {
  if (language === 'sql') return { sql: text };
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError({
      status: 422,
      code: 'VALIDATION_FAILED',
      message: `This is no valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
    });
  }
}

export function QueryPage() {
  const { language, text: shared, view } = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState(shared ?? EXAMPLES[language][0]?.text ?? '');
  const run = useMutation({
    mutationFn: () => api.post('/v1/query', { body: bodyOf(language, text) }),
    onMutate: () => void navigate({ search: (before) => ({ ...before, text }), replace: true }),
  });
  // Another address than the one the page has written: a link, or the way back.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the address changes
  useEffect(() => {
    if (shared === undefined || shared === text) return;
    setText(shared);
    run.reset();
  }, [shared]);
  const change = (next: QueryLanguage) => {
    setText(EXAMPLES[next][0]?.text ?? '');
    run.reset();
    void navigate({ search: { language: next, view } });
  };
  return (
    <>
      <PageHeader title="Query" about="Ask about the pages, links, records and snapshots of this account." />
      <Stack>
        <Card
          title={
            <Segmented
              label="Language"
              value={language}
              onChange={change}
              options={[
                { value: 'typed', label: 'JSON query' },
                { value: 'sql', label: 'SQL over the lake' },
              ]}
            />
          }
          actions={
            <Menu trigger={<Button size="small">Examples</Button>}>
              {EXAMPLES[language].map((example) => (
                <MenuItem key={example.name} onSelect={() => setText(example.text)}>
                  {example.name}
                </MenuItem>
              ))}
            </Menu>
          }
        >
          <Stack>
            <CodeEditor
              key={language}
              label="Query"
              language={language === 'sql' ? 'sql' : 'json'}
              schema={LAKE_TABLES}
              value={text}
              onChange={setText}
              onRun={() => run.mutate()}
              minHeight={170}
            />
            <Row>
              <Button kind="primary" icon={Play} isBusy={run.isPending} onClick={() => run.mutate()}>
                Run
              </Button>
              <span>Ctrl Enter runs it too.</span>
            </Row>
            {run.error !== null && <FailureNotice failure={run.error} />}
          </Stack>
        </Card>
        <Card
          title="Result"
          isFlush
          actions={
            run.data && (
              <Row>
                <Segmented
                  label="View"
                  value={view}
                  onChange={(next) =>
                    void navigate({ search: (before) => ({ ...before, view: next }), replace: true })
                  }
                  options={[
                    { value: 'table', label: 'Table' },
                    { value: 'chart', label: 'Chart' },
                  ]}
                />
                <Button size="small" onClick={() => run.data && downloadCsv(run.data)}>
                  Download CSV
                </Button>
              </Row>
            )
          }
        >
          <Result result={run.data} isPending={run.isPending} view={view} />
        </Card>
        <Card title="As code">
          <CodeSamples request={{ method: 'POST', path: '/v1/query', body: sampleBody(language, text) }} />
        </Card>
      </Stack>
    </>
  );
}

function Result({
  result,
  isPending,
  view,
}: {
  readonly result: QueryResult | undefined;
  readonly isPending: boolean;
  readonly view: 'table' | 'chart';
}) {
  if (isPending) return <Skeleton lines={5} />;
  if (result === undefined) {
    return (
      <EmptyState icon={Database} title="No result yet">
        Choose an example or write a query, then run it.
      </EmptyState>
    );
  }
  if (result.items.length === 0) return <EmptyState icon={Database} title="No rows match" />;
  return (
    <Stack gap="small">
      {(result.isTruncated || result.nextCursor !== null) && (
        <Notice>{`The first ${plural(result.items.length, 'row')}. Add a limit, an order or a narrower condition for others.`}</Notice>
      )}
      {view === 'chart' ? <ResultChart result={result} /> : <ResultTable result={result} />}
    </Stack>
  );
}

function sampleBody(language: QueryLanguage, text: string): unknown {
  try {
    return bodyOf(language, text);
  } catch {
    return {};
  }
}
