import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ArrowLeft, CalendarClock, CirclePlay } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../kit/button.tsx';
import { CodeSamples } from '../../kit/code-samples.tsx';
import { Card, PageHeader, Stack } from '../../kit/layout.tsx';
import { FormFailure, useServerForm } from '../../kit/server-form.tsx';
import { Notice, QueryView, Skeleton } from '../../kit/states.tsx';
import { EstimateCard } from './estimate-card.tsx';
import { EndSection, FetchSection, KeepSection } from './form-content.tsx';
import { LimitSection, ScopeSection, SeedSection } from './form-scope.tsx';
import { bodyOf, EMPTY_FORM, FIELD_OF, type JobForm, jobFormSchema, pathOfKind } from './job-form.ts';
import { type ClonedJob, cloneOf } from './job-request.ts';
import jobStyles from './jobs.module.css';
import styles from './new-job.module.css';
import { cloneQuery } from './queries.ts';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { ScopePreview } from './scope-preview.tsx';

const route = getRouteApi('/signed-in/jobs/new');

export function NewJobPage() {
  const { url = '', clone, kind = 'crawl' } = route.useSearch();
  if (clone !== undefined) return <ClonedForm key={clone} id={clone} />;
  return (
    <JobFormPage key={`${kind} ${url}`} start={{ form: { ...EMPTY_FORM, kind, urls: url }, missing: [] }} />
  );
}

/** The form filled with what an earlier job was asked for. */
function ClonedForm({ id }: { readonly id: string }) {
  const query = useQuery(cloneQuery(id));
  return (
    <QueryView isPage query={query} skeleton={<Skeleton lines={4} height={120} />}>
      {(job) => <JobFormPage start={cloneOf(job)} />}
    </QueryView>
  );
}

function JobFormPage({ start }: { readonly start: ClonedJob }) {
  const navigate = route.useNavigate();
  const [mapId, setMapId] = useState<string | null>(null);
  const [isScheduling, setIsScheduling] = useState(false);
  const form = useServerForm({
    schema: jobFormSchema,
    defaultValues: start.form,
    fieldOf: FIELD_OF,
    send: async (values) => {
      const { id } = await api.post(pathOfKind(values.kind), { body: bodyOf(values) });
      await navigate({ to: '/jobs/$id', params: { id }, search: {} });
    },
  });
  const values = form.watch() as JobForm;
  const { kind } = values;
  const schedule = async () => {
    if (await form.trigger(undefined, { shouldFocus: true })) setIsScheduling(true);
  };
  return (
    <form onSubmit={form.submit} noValidate>
      <PageHeader
        title="New job"
        above={
          <Link to="/jobs" search={{}} className={jobStyles.back}>
            <ArrowLeft size={13} aria-hidden /> Jobs
          </Link>
        }
        about="Say what to fetch and start; everything else has sensible defaults."
      />
      <div className={styles.page}>
        <Stack>
          {start.missing.length > 0 && (
            <Notice tone="warn">
              {`The server does not show secrets again, so these are missing here: ${start.missing.join(', ')}. Give them anew under “More options”, or they are left out.`}
            </Notice>
          )}
          <SeedSection form={form} kind={kind} />
          {kind !== 'batch' && <ScopeSection form={form} />}
          <LimitSection form={form} kind={kind} />
          <KeepSection form={form} />
          <FetchSection form={form} />
          <EndSection form={form} />
        </Stack>
        <div className={styles.side}>
          <Stack>
            <EstimateCard form={values} mapId={kind === 'batch' ? null : mapId} />
            <Card>
              <div className={styles.actions}>
                <FormFailure form={form} />
                <Button kind="primary" type="submit" icon={CirclePlay} isBusy={form.isBusy}>
                  {`Start ${kind === 'batch' ? 'batch' : 'crawl'}`}
                </Button>
                <Button icon={CalendarClock} onClick={schedule}>
                  Save as schedule
                </Button>
              </div>
            </Card>
            {kind !== 'batch' && <ScopePreview form={values} onMapped={setMapId} />}
            <Card title="As code">
              <CodeSamples request={{ method: 'POST', path: pathOfKind(kind), body: bodyOf(values) }} />
            </Card>
          </Stack>
        </div>
      </div>
      {isScheduling && <ScheduleDialog form={values} onClose={() => setIsScheduling(false)} />}
    </form>
  );
}
