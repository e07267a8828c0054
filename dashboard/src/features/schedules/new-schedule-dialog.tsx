import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { problemOf } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import type { Body } from '../../api/types.ts';
import { Button } from '../../kit/button.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { CodeSamples } from '../../kit/code-samples.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Field, Select, TextInput } from '../../kit/field.tsx';
import { Fold, Stack } from '../../kit/layout.tsx';
import { DEFAULT_TIMING, ScheduleField, timingBody } from '../../kit/schedule-field.tsx';
import { FailureNotice } from '../../kit/states.tsx';
import { toast } from '../../kit/toasts.tsx';
import styles from './schedules.module.css';

const EXAMPLE = { kind: 'crawl', urls: ['https://example.com/'], maxPages: 100 };

function parse(text: string): { readonly job?: unknown; readonly problem?: string } {
  try {
    const job: unknown = JSON.parse(text);
    if (typeof job !== 'object' || job === null || !('kind' in job)) {
      return { problem: 'Enter an object with "kind": "scrape", "batch" or "crawl".' };
    }
    return { job };
  } catch (cause) {
    return { problem: `This is no valid JSON: ${cause instanceof Error ? cause.message : ''}` };
  }
}

/** The form for a new schedule. The form for a new crawl leads here with its job filled in. */
export function NewScheduleDialog({
  job,
  onClose,
}: {
  readonly job: string | undefined;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [timing, setTiming] = useState(DEFAULT_TIMING);
  const [overlap, setOverlap] = useState<'skip' | 'queue' | 'cancelPrevious'>('skip');
  const [text, setText] = useState(() => JSON.stringify(parse(job ?? '').job ?? EXAMPLE, null, 2));
  const [problems, setProblems] = useState<Readonly<Record<string, string | undefined>>>({});
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const parsed = parse(text);
  const body = {
    name: name.trim(),
    ...timingBody(timing),
    overlap,
    job: parsed.job,
  } as Body<'createSchedule'>;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const found = { name: name.trim() === '' ? 'Enter a name.' : undefined, job: parsed.problem };
    setProblems(found);
    if (found.name !== undefined || found.job !== undefined) return;
    setIsBusy(true);
    setFailure(null);
    try {
      const made = await api.post('/v1/schedules', { body, idempotencyKey: crypto.randomUUID() });
      await client.invalidateQueries({ queryKey: ['schedules'] });
      toast.done(`“${made.name}” is scheduled.`);
      await navigate({ to: '/schedules/$id', params: { id: made.id } });
    } catch (cause) {
      setFailure(cause);
    } finally {
      setIsBusy(false);
    }
  };
  const jobProblem = problems.job ?? problemOf(failure, 'job');
  return (
    <Dialog
      isOpen
      onClose={onClose}
      shape="wide"
      title="New schedule"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form="new-schedule" isBusy={isBusy}>
            Create schedule
          </Button>
        </>
      }
    >
      <form id="new-schedule" onSubmit={submit} noValidate>
        <Stack>
          <Field label="Name" error={problems.name ?? problemOf(failure, 'name')}>
            <TextInput
              value={name}
              placeholder="Nightly crawl"
              onChange={(event) => setName(event.target.value)}
            />
          </Field>
          <ScheduleField value={timing} onChange={setTiming} failure={failure} />
          <Field label="While the run before still goes on" error={problemOf(failure, 'overlap')}>
            <Select value={overlap} onChange={(event) => setOverlap(event.target.value as typeof overlap)}>
              <option value="skip">leave this run out</option>
              <option value="queue">wait for its end</option>
              <option value="cancelPrevious">cancel the run before</option>
            </Select>
          </Field>
          <div>
            <h3>Job</h3>
            <CodeEditor label="Job" language="json" value={text} onChange={setText} />
            {jobProblem !== undefined && (
              <p className={styles.problem} role="alert">
                {jobProblem}
              </p>
            )}
          </div>
          {failure !== null && <FailureNotice failure={failure} />}
          <Fold title="As code">
            <CodeSamples request={{ method: 'POST', path: '/v1/schedules', body }} />
          </Fold>
        </Stack>
      </form>
    </Dialog>
  );
}
