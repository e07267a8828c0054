import { useQueryClient } from '@tanstack/react-query';
import * as z from 'zod/mini';
import type { BUDGET_REASONS } from '../../api/choices.ts';
import { api } from '../../api/client.ts';
import type { Job } from '../../api/types.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Field, TextInput } from '../../kit/field.tsx';
import { Row, Stack } from '../../kit/layout.tsx';
import { FormFailure, useServerForm } from '../../kit/server-form.tsx';
import { toast } from '../../kit/toasts.tsx';
import { jobName } from './job-name.ts';

type Limit = 'maxPages' | 'maxBytes' | 'maxDurationMs' | 'maxBrowserMs' | 'maxProxyBytes' | 'maxCredits';

interface LimitWords {
  readonly field: Limit;
  readonly label: string;
  readonly hint: string;
  /** What the number in the form is multiplied by for the request. */
  readonly unit: number;
}

/** The limit that stopped a job, by its `stopReason`. */
const LIMITS: Readonly<Record<(typeof BUDGET_REASONS)[number], LimitWords>> = {
  'budget.pages': {
    field: 'maxPages',
    label: 'Pages of the whole job',
    hint: 'Pages fetched so far count.',
    unit: 1,
  },
  'budget.bytes': {
    field: 'maxBytes',
    label: 'Megabytes of the whole job',
    hint: 'Those so far count.',
    unit: 1e6,
  },
  'budget.duration': {
    field: 'maxDurationMs',
    label: 'Minutes from now on',
    hint: 'Time so far does not count.',
    unit: 60_000,
  },
  'budget.browser': {
    field: 'maxBrowserMs',
    label: 'Minutes of browsers',
    hint: 'Those so far count.',
    unit: 60_000,
  },
  'budget.proxy': {
    field: 'maxProxyBytes',
    label: 'Megabytes through proxies',
    hint: 'Those so far count.',
    unit: 1e6,
  },
  'budget.credits': {
    field: 'maxCredits',
    label: 'Credits of the whole job',
    hint: 'Those so far count.',
    unit: 1,
  },
};

const wordsOf = (stopReason: string | null): LimitWords | undefined =>
  Object.hasOwn(LIMITS, stopReason ?? '') ? LIMITS[stopReason as keyof typeof LIMITS] : undefined;

/** Whether a job can go on only with a higher limit. */
export const needsLimit = ({ stopReason }: Pick<Job, 'stopReason'>): boolean =>
  wordsOf(stopReason) !== undefined;

const schema = z.object({
  limit: z.string().check(z.regex(/^\s*(\d+(\.\d+)?)?\s*$/, 'Enter a number, or nothing for no limit.')),
});

/** Asks for the limit with which a job that a limit has stopped goes on. */
export function ResumeDialog({ job, onClose }: { readonly job: Job; readonly onClose: () => void }) {
  const client = useQueryClient();
  const words = wordsOf(job.stopReason);
  const form = useServerForm({
    schema,
    defaultValues: { limit: suggestion(job) },
    fieldOf: Object.fromEntries(Object.values(LIMITS).map(({ field }) => [field, 'limit' as const])),
    send: async ({ limit }) => {
      const value = limit.trim() === '' ? null : Number(limit) * (words?.unit ?? 1);
      const body = words === undefined ? {} : { [words.field]: value };
      await api.post('/v1/jobs/{id}/resume', { params: { id: job.id }, body });
      toast.done('Continued');
      await client.invalidateQueries({ queryKey: ['jobs'] });
      onClose();
    },
  });
  return (
    <Dialog isOpen onClose={onClose} title={`Resume ${jobName(job)}`} about={job.stopMessage ?? undefined}>
      <form onSubmit={form.submit} noValidate>
        <Stack>
          <Field
            label={words?.label ?? 'Limit'}
            hint={`${words?.hint ?? ''} Leave it empty for no limit.`}
            error={form.errorOf('limit')}
          >
            <TextInput inputMode="decimal" {...form.register('limit')} />
          </Field>
          <FormFailure form={form} />
          <Row align="end">
            <Button kind="primary" type="submit" isBusy={form.isBusy}>
              Resume
            </Button>
            <Button onClick={onClose}>Close</Button>
          </Row>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Twice the pages that the job has; other limits are left to the reader. */
const suggestion = ({ stopReason, progress }: Job): string =>
  stopReason === 'budget.pages' ? String(Math.max(100, progress.pages * 2)) : '';
