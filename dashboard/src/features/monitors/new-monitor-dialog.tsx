import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { CodeSamples } from '../../kit/code-samples.tsx';
import { Checkbox, Field, Segmented, Select, TextArea, TextInput } from '../../kit/field.tsx';
import { FormDialog, type Submit, useSubmit } from '../../kit/form-dialog.tsx';
import { Fold, Row, Stack } from '../../kit/layout.tsx';
import { ScheduleField } from '../../kit/schedule-field.tsx';
import { toast } from '../../kit/toasts.tsx';
import { bodyOf, CHANNELS, type Channel, emptyForm, type MonitorForm, problemsOf } from './monitor-form.ts';
import { WatchPreview } from './watch-preview.tsx';

const CHANNEL_HINTS: Readonly<Record<Channel, string>> = {
  webhook: 'https://… of your program; deliveries are signed',
  email: 'name@example.com; it gets a link to confirm',
  slack: 'https://hooks.slack.com/services/…',
  discord: 'https://discord.com/api/webhooks/…',
  teams: 'https://…webhook.office.com/…',
  ntfy: 'https://ntfy.sh/your-topic',
};

/** The form for a new monitor; `url` is its first page. */
export function NewMonitorDialog({
  url,
  onClose,
}: {
  readonly url: string | undefined;
  readonly onClose: () => void;
}) {
  const navigate = useNavigate();
  const [form, setForm] = useState(() => emptyForm(url));
  const set = (change: Partial<MonitorForm>) => setForm((before) => ({ ...before, ...change }));
  const submit = useSubmit({
    refresh: ['monitors'],
    check: () => problemsOf(form),
    async send() {
      const made = await api.post('/v1/monitors', {
        body: bodyOf(form),
        idempotencyKey: crypto.randomUUID(),
      });
      toast.done(`“${made.name}” watches from now on. The first check makes the baseline.`);
      await navigate({ to: '/monitors/$id', params: { id: made.id } });
    },
  });

  return (
    <FormDialog
      onClose={onClose}
      shape="wide"
      title="New monitor"
      action="Create monitor"
      submit={submit}
      below={
        <Fold title="As code">
          <CodeSamples request={{ method: 'POST', path: '/v1/monitors', body: bodyOf(form) }} />
        </Fold>
      }
    >
      <Field label="Name" error={submit.errorOf('name')}>
        <TextInput
          value={form.name}
          placeholder="Price of the chair"
          onChange={(event) => set({ name: event.target.value })}
        />
      </Field>
      <Segmented
        label="What to watch"
        value={form.target}
        onChange={(target) => set({ target })}
        options={[
          { value: 'urls', label: 'Pages' },
          { value: 'site', label: 'Whole site' },
          { value: 'sitemap', label: 'Sitemap' },
        ]}
      />
      <Field
        label={
          { urls: 'URLs, one on each line', site: 'Start of the site', sitemap: 'URL of the sitemap' }[
            form.target
          ]
        }
        error={submit.errorOf('urls', form.target)}
      >
        <TextArea
          rows={form.target === 'urls' ? 3 : 1}
          value={form.urls}
          placeholder="https://example.com/pricing"
          onChange={(event) => set({ urls: event.target.value })}
        />
      </Field>
      <ScheduleField
        value={form.timing}
        onChange={(timing) => set({ timing })}
        failure={submit.failure}
        prefix="schedule."
      />
      <Row align="start">
        <Field label="Tell me by">
          <Select
            value={form.channel}
            onChange={(event) => set({ channel: event.target.value as MonitorForm['channel'] })}
          >
            <option value="none">only here</option>
            {CHANNELS.map((channel) => (
              <option key={channel}>{channel}</option>
            ))}
          </Select>
        </Field>
        {form.channel !== 'none' && (
          <Field
            label="Address"
            hint={CHANNEL_HINTS[form.channel]}
            error={submit.errorOf('address', 'notify')}
          >
            <TextInput value={form.address} onChange={(event) => set({ address: event.target.value })} />
          </Field>
        )}
      </Row>
      <Fold title="What counts as a change">
        <Stack>
          <WhatCounts form={form} set={set} submit={submit} />
          <WatchPreview form={form} />
        </Stack>
      </Fold>
    </FormDialog>
  );
}

function WhatCounts({
  form,
  set,
  submit,
}: {
  readonly form: MonitorForm;
  readonly set: (change: Partial<MonitorForm>) => void;
  readonly submit: Submit;
}) {
  return (
    <>
      <Field label="Compare" error={submit.errorOf('watch')}>
        <Select
          value={form.watch}
          onChange={(event) => set({ watch: event.target.value as MonitorForm['watch'] })}
        >
          <option value="default">Text, title, price and availability</option>
          <option value="text">All text</option>
          <option value="markdown">Main content</option>
          <option value="selectors">Chosen elements</option>
          <option value="fields">Chosen fields</option>
        </Select>
      </Field>
      {(form.watch === 'selectors' || form.watch === 'fields') && (
        <Field
          label={form.watch === 'fields' ? 'Fields, one on each line' : 'CSS selectors, one on each line'}
          error={submit.errorOf('watched')}
        >
          <TextArea
            rows={2}
            value={form.watched}
            onChange={(event) => set({ watched: event.target.value })}
          />
        </Field>
      )}
      <Checkbox
        label="Compare screenshots too"
        checked={form.withScreenshot}
        onChange={(event) => set({ withScreenshot: event.target.checked })}
      />
      <Field label="Leave out elements (CSS selectors)" error={submit.errorOf('ignore.selectors')}>
        <TextArea
          rows={2}
          value={form.ignoreSelectors}
          onChange={(event) => set({ ignoreSelectors: event.target.value })}
        />
      </Field>
      <Field label="Leave out text (regular expressions)" error={submit.errorOf('ignore.patterns')}>
        <TextArea
          rows={2}
          value={form.ignorePatterns}
          onChange={(event) => set({ ignorePatterns: event.target.value })}
        />
      </Field>
      <Row align="start">
        <Field label="At least so many percent" error={submit.errorOf('sharePercent', 'threshold')}>
          <TextInput
            inputMode="decimal"
            value={form.sharePercent}
            onChange={(event) => set({ sharePercent: event.target.value })}
          />
        </Field>
        {form.target !== 'urls' && (
          <Field label="Pages at most" error={submit.errorOf('maxPages')}>
            <TextInput
              inputMode="numeric"
              value={form.maxPages}
              onChange={(event) => set({ maxPages: event.target.value })}
            />
          </Field>
        )}
      </Row>
    </>
  );
}
