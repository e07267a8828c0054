import type { Job } from '../../api/types.ts';
import { ExternalLink } from '../../kit/external-link.tsx';
import { JsonTree } from '../../kit/json-tree.tsx';
import { Card, Columns, KeyValues, Stack } from '../../kit/layout.tsx';
import { Time } from '../../kit/time.tsx';
import styles from './settings.module.css';

const MOST_SEEDS = 50;

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
    <Card title="Options" about="With all defaults; secrets are hidden.">
      <JsonTree name="options" value={job.options} />
    </Card>
  </Columns>
);
