import { useQueries, useQuery } from '@tanstack/react-query';
import { Plus, X } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { asApiError } from '../../../api/api-error.ts';
import { plural, shortUrl } from '../../../format/format.ts';
import { fullUrl } from '../../../format/full-url.ts';
import { Button, IconButton } from '../../../kit/button.tsx';
import { Field, Select, TextInput } from '../../../kit/field.tsx';
import { Row, Stack } from '../../../kit/layout.tsx';
import { Notice } from '../../../kit/states.tsx';
import { toast } from '../../../kit/toasts.tsx';
import type { Run } from '../result/run.ts';
import styles from './picker.module.css';
import { PreviewTable } from './preview-table.tsx';
import type { Rules } from './rule-draft.ts';
import { fetchSample, previewQuery, recentJobsQuery, type Sample, similarPages } from './samples.ts';

const PAGES_OF_A_JOB = 5;
const SIMILAR = 4;

interface RulesPreviewProps {
  readonly run: Run;
  readonly rules: Rules;
  readonly onRemove: (name: string) => void;
}

/** What the rules yield over the page and over others: stored pages are read again, nothing is fetched for it. */
export function RulesPreview({ run, rules, onRemove }: RulesPreviewProps) {
  const [samples, setSamples] = useState<readonly Sample[]>([
    { jobId: run.jobId, label: run.page.finalUrl, most: 1 },
  ]);
  const settled = useDeferredValue(rules);
  const names = Object.keys(rules);
  const results = useQueries({
    queries: samples.map((sample) => ({ ...previewQuery(sample, settled), enabled: names.length > 0 })),
  });
  const failure = results.find(({ error }) => error !== null)?.error;
  const pages = results.flatMap((result, index) =>
    (result.data ?? []).map((page, place) => ({ key: `${samples[index]?.jobId} ${place}`, page })),
  );
  const add = (more: readonly Sample[]) =>
    setSamples((before) => [
      ...before,
      ...more.filter(({ jobId }) => !before.some((each) => each.jobId === jobId)),
    ]);
  return (
    <Stack gap="small">
      <h3>What the rules yield</h3>
      {names.length === 0 ? (
        <p className={styles.faint}>No rules yet. Pick an element and add its rule.</p>
      ) : (
        <Row>
          {names.map((name) => (
            <span key={name} className={styles.chip}>
              <code>{name}</code>
              <IconButton icon={X} size="small" label={`Remove ${name}`} onClick={() => onRemove(name)} />
            </span>
          ))}
        </Row>
      )}
      {failure !== undefined && failure !== null && <Problems failure={failure} />}
      {pages.length > 0 && names.length > 0 && <PreviewTable names={names} pages={pages} />}
      <AddSamples run={run} known={samples} onAdd={add} />
    </Stack>
  );
}

function Problems({ failure }: { readonly failure: unknown }) {
  const { message, problems } = asApiError(failure);
  return (
    <Notice tone="bad">
      {problems.length === 0
        ? message
        : problems.map(({ field, message: text }) => (
            <div key={`${field} ${text}`}>
              <code>{field.replace(/^extract\.rules\./, '')}</code>: {text}
            </div>
          ))}
    </Notice>
  );
}

interface AddSamplesProps {
  readonly run: Run;
  readonly known: readonly Sample[];
  readonly onAdd: (samples: readonly Sample[]) => void;
}

/** Ways to more pages: similar ones that the page links to, an address, or the pages of a job. */
function AddSamples({ run, known, onAdd }: AddSamplesProps) {
  const [typed, setTyped] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const jobs = useQuery(recentJobsQuery);
  const similar = similarPages(run.page, SIMILAR).filter((url) => !known.some(({ label }) => label === url));
  const fetchAll = async (urls: readonly string[]) => {
    setIsBusy(true);
    try {
      onAdd(await Promise.all(urls.map(fetchSample)));
      setTyped('');
    } catch (cause) {
      toast.failed(cause);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Row>
      {similar.length > 0 && (
        <Button size="small" icon={Plus} isBusy={isBusy} onClick={() => void fetchAll(similar)}>
          {`Try on ${plural(similar.length, 'similar page')}`}
        </Button>
      )}
      <Field label="Another page" isLabelHidden className={styles.another}>
        <TextInput
          placeholder="Try on another URL"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            if (typed.trim() !== '') void fetchAll([fullUrl(typed)]);
          }}
        />
      </Field>
      <Button
        size="small"
        isBusy={isBusy}
        disabled={typed.trim() === ''}
        onClick={() => void fetchAll([fullUrl(typed)])}
      >
        Add page
      </Button>
      {(jobs.data?.length ?? 0) > 0 && (
        <Select
          aria-label="Try on pages of a job"
          value=""
          onChange={(event) => {
            const job = jobs.data?.find(({ id }) => id === event.target.value);
            if (job) onAdd([{ jobId: job.id, label: job.seeds[0] ?? job.id, most: PAGES_OF_A_JOB }]);
          }}
        >
          <option value="">Try on pages of a job…</option>
          {jobs.data?.map((job) => (
            <option key={job.id} value={job.id}>
              {`${job.kind} ${shortUrl(job.seeds[0] ?? job.id)}`}
            </option>
          ))}
        </Select>
      )}
    </Row>
  );
}
