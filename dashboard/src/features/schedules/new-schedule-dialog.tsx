import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Body } from '../../api/types.ts';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { CodeSamples } from '../../kit/code-samples.tsx';
import { Field, Select, TextInput } from '../../kit/field.tsx';
import { FormDialog, useSubmit } from '../../kit/form-dialog.tsx';
import { Fold } from '../../kit/layout.tsx';
import { DEFAULT_TIMING, ScheduleField, timingBody } from '../../kit/schedule-field.tsx';
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
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [timing, setTiming] = useState(DEFAULT_TIMING);
  const [overlap, setOverlap] = useState<'skip' | 'queue' | 'cancelPrevious'>('skip');
  const [text, setText] = useState(() => JSON.stringify(parse(job ?? '').job ?? EXAMPLE, null, 2));
  const parsed = parse(text);
  const body = {
    name: name.trim(),
    ...timingBody(timing),
    overlap,
    job: parsed.job,
  } as Body<'createSchedule'>;
  const submit = useSubmit({
    refresh: ['schedules'],
    check: () => ({ name: name.trim() === '' && 'Enter a name.', job: parsed.problem }),
    async send() {
      const made = await api.post('/v1/schedules', { body, idempotencyKey: crypto.randomUUID() });
      toast.done(`“${made.name}” is scheduled.`);
      await navigate({ to: '/schedules/$id', params: { id: made.id } });
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      shape="wide"
      title="New schedule"
      action="Create schedule"
      submit={submit}
      below={
        <Fold title="As code">
          <CodeSamples request={{ method: 'POST', path: '/v1/schedules', body }} />
        </Fold>
      }
    >
      <Field label="Name" error={submit.errorOf('name')}>
        <TextInput
          value={name}
          placeholder="Nightly crawl"
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <ScheduleField value={timing} onChange={setTiming} failure={submit.failure} />
      <Field label="While the run before still goes on" error={submit.errorOf('overlap')}>
        <Select value={overlap} onChange={(event) => setOverlap(event.target.value as typeof overlap)}>
          <option value="skip">leave this run out</option>
          <option value="queue">wait for its end</option>
          <option value="cancelPrevious">cancel the run before</option>
        </Select>
      </Field>
      <div>
        <h3>Job</h3>
        <CodeEditor label="Job" language="json" value={text} onChange={setText} />
        {submit.errorOf('job') !== undefined && (
          <p className={styles.problem} role="alert">
            {submit.errorOf('job')}
          </p>
        )}
      </div>
    </FormDialog>
  );
}
