import { JOB_KINDS } from '../../api/choices.ts';
import type { Job } from '../../api/types.ts';
import { CodeSamples } from '../../kit/code-samples.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { JsonTree } from '../../kit/json-tree.tsx';
import { Card, Columns, KeyValues, Stack } from '../../kit/layout.tsx';
import { Notice } from '../../kit/states.tsx';
import { Time } from '../../kit/time.tsx';
import { bodyOf, pathOfKind } from './job-form.ts';
import { cloneOf } from './job-request.ts';
import styles from './settings.module.css';

const MOST_SEEDS = 50;

const isListOfUrls = ({ kind }: Job): boolean =>
  JOB_KINDS.some((each) => each.value === kind && each.isListOfUrls);

/** What the job was asked to do, with all defaults. */
export const SettingsTab = ({ job }: { readonly job: Job }) => (
  <Columns min="wide">
    <Stack>
      <Card title="Job">
        <KeyValues
          entries={[
            ['Id', <code key="id">{job.id}</code>],
            ['Kind', job.kind],
            ['Created', <Time key="created" at={job.createdAt} />],
            ['Started', <Time key="started" at={job.startedAt} />],
            ['Finished', <Time key="finished" at={job.finishedAt} />],
            ['API key', job.keyId ?? undefined],
            ['Schedule', job.scheduleId],
            ['Deleted by age', job.expired?.join(', ')],
          ]}
        />
      </Card>
      <Card title="Starts from">
        <ul className={styles.seeds}>
          {job.seeds.slice(0, MOST_SEEDS).map((seed) => (
            <li key={seed}>
              <ExternalLink url={seed} />
            </li>
          ))}
        </ul>
      </Card>
    </Stack>
    <Stack>
      {!isListOfUrls(job) && <RequestCode job={job} />}
      <Card title="Options" about="With all defaults; secrets are hidden.">
        <JsonTree name="options" value={job.options} />
      </Card>
    </Stack>
  </Columns>
);

/** The request that makes the same job again. */
function RequestCode({ job }: { readonly job: Job }) {
  const { form, missing } = cloneOf(job);
  return (
    <Card title="The same again, as code">
      <Stack gap="small">
        {missing.length > 0 && (
          <Notice>{`Hidden by the server, and to be added: ${missing.join(', ')}.`}</Notice>
        )}
        <CodeSamples request={{ method: 'POST', path: pathOfKind(form.kind), body: bodyOf(form) }} />
      </Stack>
    </Card>
  );
}
