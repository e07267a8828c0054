import { formatBytes, formatDuration, plural, words } from '../../../format/format.ts';
import { Badge, HttpStatus } from '../../../kit/badge.tsx';
import { LinkButton } from '../../../kit/button.tsx';
import { ExternalLink } from '../../../kit/external-link.tsx';
import { Row, Stack } from '../../../kit/layout.tsx';
import { Sentence } from '../../../kit/sentence.tsx';
import { Notice } from '../../../kit/states.tsx';
import { Tabs } from '../../../kit/tabs.tsx';
import { Time } from '../../../kit/time.tsx';
import { PickerTab } from '../picker/picker-tab.tsx';
import type { ResultTab } from '../routes.ts';
import { DataTab } from './data-tab.tsx';
import { LinksTab } from './links-tab.tsx';
import { NetworkTab } from './network-tab.tsx';
import { PageTab } from './page-tab.tsx';
import styles from './result.module.css';
import type { Run } from './run.ts';
import { HtmlTab, MarkdownTab } from './text-tabs.tsx';
import { TimingTab } from './timing-tab.tsx';
import { WhyTab } from './why-tab.tsx';

interface ResultViewProps {
  readonly run: Run;
  readonly tab: ResultTab;
  readonly onTab: (tab: ResultTab) => void;
  /** The rules of the form, as JSON. */
  readonly rules: string;
  readonly onRules: (rules: string) => void;
  readonly onAskNetwork: () => void;
}

/** What a run has brought. */
export function ResultView({ run, tab, onTab, rules, onRules, onAskNetwork }: ResultViewProps) {
  const { page } = run;
  return (
    <Stack>
      <Summary run={run} />
      {page.error && (
        <Notice tone="bad">
          <Sentence text={page.error.message} /> <code>{page.error.code}</code>
        </Notice>
      )}
      <Tabs
        label="Result"
        value={tab}
        onChange={onTab}
        tabs={[
          { value: 'page', label: 'Page', content: <PageTab run={run} /> },
          { value: 'markdown', label: 'Markdown', content: <MarkdownTab run={run} /> },
          { value: 'html', label: 'HTML', content: <HtmlTab run={run} /> },
          { value: 'data', label: 'Data', content: <DataTab run={run} /> },
          { value: 'links', label: 'Links', content: <LinksTab run={run} /> },
          { value: 'network', label: 'Network', content: <NetworkTab run={run} onAsk={onAskNetwork} /> },
          { value: 'timing', label: 'Timing', content: <TimingTab run={run} /> },
          { value: 'why', label: 'Why', content: <WhyTab jobId={run.jobId} url={page.url} /> },
          {
            value: 'picker',
            label: 'Picker',
            content: <PickerTab run={run} rules={rules} onRules={onRules} />,
          },
        ]}
      />
    </Stack>
  );
}

function Summary({ run }: { readonly run: Run }) {
  const { page, attempts, credits, totalMs } = run;
  const engine = attempts.at(-1)?.engine;
  const spentMs = totalMs ?? attempts.reduce((sum, { ms, waitedMs }) => sum + ms + (waitedMs ?? 0), 0);
  return (
    <div className={styles.summary}>
      <Row align="between">
        <h2>{page.title || page.finalUrl}</h2>
        <LinkButton to="/jobs/$id" params={{ id: run.jobId }} size="small">
          Open the job
        </LinkButton>
      </Row>
      <div className={styles.facts}>
        <HttpStatus code={page.statusCode} />
        {page.outcome && page.outcome !== 'ok' && <Badge tone="warn">{words(page.outcome)}</Badge>}
        {page.cache?.hit ? (
          <Badge tone="info">stored page</Badge>
        ) : (
          engine && <Badge tone="info">{engine}</Badge>
        )}
        <span>{formatDuration(spentMs)}</span>
        <span>{formatBytes(page.bytes)}</span>
        <span>{credits === 0 ? 'free' : plural(credits, 'credit')}</span>
        {attempts.length > 1 && <span>{plural(attempts.length, 'attempt')}</span>}
        <Time at={page.fetchedAt} />
        <ExternalLink url={page.finalUrl} />
      </div>
    </div>
  );
}
