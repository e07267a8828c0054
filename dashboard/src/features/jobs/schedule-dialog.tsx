import { useNavigate } from '@tanstack/react-router';
import * as z from 'zod/mini';
import { api } from '../../api/client.ts';
import type { Body } from '../../api/types.ts';
import { shortUrl } from '../../format/format.ts';
import { fullUrl, linesOf } from '../../format/full-url.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Field, TextInput } from '../../kit/field.tsx';
import { Row, Stack } from '../../kit/layout.tsx';
import { FormFailure, useServerForm } from '../../kit/server-form.tsx';
import { toast } from '../../kit/toasts.tsx';
import { bodyOf, type JobForm } from './job-form.ts';

const schema = z.object({
  name: z.string().check(z.minLength(1, 'Give the schedule a name.')),
  cron: z.string().check(z.minLength(1, 'Enter when it runs, such as @daily.')),
  timeZone: z.string(),
});

/** Saves the request of the form as a schedule, which starts the job again and again. */
export function ScheduleDialog({
  form: job,
  onClose,
}: {
  readonly form: JobForm;
  readonly onClose: () => void;
}) {
  const navigate = useNavigate();
  const [first = ''] = linesOf(job.urls).map(fullUrl);
  const form = useServerForm({
    schema,
    defaultValues: {
      name: shortUrl(first),
      cron: '@daily',
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    },
    send: async (values) => {
      const body = { ...values, job: { kind: job.kind === 'batch' ? 'batch' : 'crawl', ...bodyOf(job) } };
      await api.post('/v1/schedules', { body: body as Body<'createSchedule'> });
      toast.done('Schedule saved');
      await navigate({ to: '/schedules' });
    },
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Save as schedule"
      about="Starts this job by itself, at the times you say."
    >
      <form onSubmit={form.submit} noValidate>
        <Stack>
          <Field label="Name" error={form.errorOf('name')}>
            <TextInput {...form.register('name')} />
          </Field>
          <Field
            label="When"
            hint="A cron line (30 2 * * MON-FRI), or @hourly, @daily, @weekly, @monthly."
            error={form.errorOf('cron')}
          >
            <TextInput {...form.register('cron')} />
          </Field>
          <Field label="Time zone" error={form.errorOf('timeZone')}>
            <TextInput {...form.register('timeZone')} />
          </Field>
          <FormFailure form={form} />
          <Row>
            <Button kind="primary" type="submit" isBusy={form.isBusy}>
              Save schedule
            </Button>
            <Button onClick={onClose}>Close</Button>
          </Row>
        </Stack>
      </form>
    </Dialog>
  );
}
