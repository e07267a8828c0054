import type { Job } from '../../api/types.ts';
import { formatDateTime, plural, words } from '../../format/format.ts';
import { Field, Select } from '../../kit/field.tsx';
import type { useEarlierJobs } from './earlier-jobs.ts';
import { jobName } from './job-name.ts';

/** Another job of the same site, for a comparison: those from the same URL first, the newest first. */
export function JobPicker({
  label,
  hint,
  jobs: { same, others, error, isThere },
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint: string;
  readonly jobs: ReturnType<typeof useEarlierJobs>;
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  const all = [...same, ...others];
  const isNone = isThere && all.length === 0;
  return (
    <Field
      label={label}
      hint={isNone ? 'No other job of this site has pages yet: clone this one and run it again later.' : hint}
      {...(error !== null && { error: 'The other jobs could not be loaded.' })}
    >
      <Select value={value} onChange={(event) => onChange(event.target.value)}>
        {value === '' && <option value="">Choose a job</option>}
        {value !== '' && all.every(({ id }) => id !== value) && <option value={value}>{value}</option>}
        <Group label="From the same URL" jobs={same} />
        <Group label="Other jobs of the site" jobs={others} />
      </Select>
    </Field>
  );
}

const Group = ({ label, jobs }: { readonly label: string; readonly jobs: readonly Job[] }) =>
  jobs.length > 0 && (
    <optgroup label={label}>
      {jobs.map((job) => (
        <option key={job.id} value={job.id}>
          {`${formatDateTime(job.createdAt)} · ${jobName(job)} · ${plural(job.progress.pages, 'page')} · ${words(job.status)}`}
        </option>
      ))}
    </optgroup>
  );
