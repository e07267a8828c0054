import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { type ApiError, asApiError } from '../../../api/api-error.ts';
import { send } from '../../../api/client.ts';
import { Button } from '../../../kit/button.tsx';
import { CodeSamples } from '../../../kit/code-samples.tsx';
import { Dialog } from '../../../kit/dialog.tsx';
import { Field, Segmented, TextArea, TextInput } from '../../../kit/field.tsx';
import { Row, Stack } from '../../../kit/layout.tsx';
import { FailureNotice } from '../../../kit/states.tsx';
import { toast } from '../../../kit/toasts.tsx';
import { type SaveKind, type SaveValues, savedRequest, urlsOf } from './saved-request.ts';

interface SaveDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly body: Readonly<Record<string, unknown>> & { readonly url: string };
}

const KINDS: readonly { readonly value: SaveKind; readonly label: string; readonly about: string }[] = [
  { value: 'job', label: 'Job', about: 'Fetches these pages now, with the options of the form.' },
  { value: 'schedule', label: 'Schedule', about: 'Fetches these pages again and again; each run is a job.' },
  {
    value: 'monitor',
    label: 'Monitor',
    about: 'Fetches these pages again and again and tells what has changed.',
  },
];
const MADE: Readonly<Record<SaveKind, readonly [text: string, to: (id: string) => string]>> = {
  job: ['The job has started.', (id) => `/jobs/${id}`],
  schedule: ['The schedule is saved.', () => '/schedules'],
  monitor: ['The monitor is saved and checks for the first time now.', () => '/monitors'],
};

/** The field of the dialog for a place that the server names. */
const fieldOf = (place: string): keyof SaveValues | null => {
  if (/(^|\.)(every|cron|schedule|timeZone)$/.test(place)) return 'times';
  if (/(^|\.)urls?(\.|$)/.test(place)) return 'urls';
  return place === 'name' ? 'name' : null;
};

function problemsOf(kind: SaveKind, values: SaveValues): Partial<Record<keyof SaveValues, string>> {
  return {
    ...(urlsOf(values.urls).length === 0 && { urls: 'Write at least one URL.' }),
    ...(kind !== 'job' &&
      values.name.trim() === '' && { name: 'Give it a name by which you find it again.' }),
    ...(kind !== 'job' &&
      values.times.trim() === '' && { times: 'Write how often, such as 6h, or a line of cron.' }),
  };
}

/** Makes a job, a schedule or a monitor of what the playground has tried. */
export function SaveDialog({ isOpen, onClose, body }: SaveDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Save this request"
      about="Use what you have tried for more pages, or over time."
      shape="wide"
    >
      {isOpen && <SaveForm body={body} onClose={onClose} />}
    </Dialog>
  );
}

function SaveForm({ body, onClose }: Pick<SaveDialogProps, 'body' | 'onClose'>) {
  const navigate = useNavigate();
  const [kind, setKind] = useState<SaveKind>('job');
  const [values, setValues] = useState<SaveValues>({
    name: URL.parse(body.url)?.host ?? '',
    times: '1d',
    urls: body.url,
  });
  const [problems, setProblems] = useState<Partial<Record<keyof SaveValues, string>>>({});
  const [failure, setFailure] = useState<ApiError | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const request = savedRequest(kind, body, values);
  const set = (name: keyof SaveValues, value: string) => setValues({ ...values, [name]: value });

  const save = async (event: FormEvent) => {
    event.preventDefault();
    const wrong = problemsOf(kind, values);
    setProblems(wrong);
    setFailure(null);
    if (Object.keys(wrong).length > 0) return;
    setIsBusy(true);
    try {
      const { id } = await send<{ id: string }>({ ...request, idempotencyKey: crypto.randomUUID() });
      const [text, to] = MADE[kind];
      onClose();
      toast.done(text, { label: 'Open', onSelect: () => void navigate({ to: to(id) }) });
    } catch (cause) {
      const error = asApiError(cause);
      const placed = error.problems.flatMap(({ field, message }) => {
        const name = fieldOf(field);
        return name === null ? [] : [[name, message] as const];
      });
      setProblems(Object.fromEntries(placed));
      if (placed.length < error.problems.length || placed.length === 0) setFailure(error);
    } finally {
      setIsBusy(false);
    }
  };

  return (
    <form onSubmit={save} noValidate>
      <Stack>
        <Segmented label="Save as" value={kind} options={KINDS} onChange={setKind} />
        <p>{KINDS.find(({ value }) => value === kind)?.about}</p>
        {kind !== 'job' && (
          <>
            <Field label="Name" error={problems.name}>
              <TextInput value={values.name} onChange={(event) => set('name', event.target.value)} />
            </Field>
            <Field
              label="How often"
              hint="An interval such as 30m, 6h or 1d, or a line of cron."
              error={problems.times}
            >
              <TextInput value={values.times} onChange={(event) => set('times', event.target.value)} />
            </Field>
          </>
        )}
        <Field label="URLs" hint="One per line." error={problems.urls}>
          <TextArea rows={4} value={values.urls} onChange={(event) => set('urls', event.target.value)} />
        </Field>
        {failure !== null && <FailureNotice failure={failure} />}
        <Row align="between">
          <span />
          <Row>
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" type="submit" isBusy={isBusy}>
              {kind === 'job' ? 'Start the job' : `Save the ${kind}`}
            </Button>
          </Row>
        </Row>
        <CodeSamples request={request} />
      </Stack>
    </form>
  );
}
