import { useQuery } from '@tanstack/react-query';
import type { Job } from '../../api/types.ts';
import { formatDateTime, plural, words } from '../../format/format.ts';
import { Field, Select } from '../../kit/field.tsx';
import { jobHost, jobName } from './job-name.ts';
import { siblingsQuery } from './queries.ts';

/** Another job of the same site, for a comparison; the newest first. */
export function JobPicker({
  label,
  hint,
  job,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly job: Job;
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  const { data, error } = useQuery(siblingsQuery(jobHost(job)));
  const others = (data?.items ?? []).filter(({ id }) => id !== job.id);
  const isListed = value === '' || others.some(({ id }) => id === value);
  return (
    <Field
      label={label}
      {...(hint !== undefined && {
        hint:
          others.length === 0 && data
            ? 'No other job of this site yet: clone this one and run it again later.'
            : hint,
      })}
      {...(error !== null && { error: 'The other jobs could not be loaded.' })}
    >
      <Select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">Choose a job</option>
        {!isListed && <option value={value}>{value}</option>}
        {others.map((other) => (
          <option key={other.id} value={other.id}>
            {`${formatDateTime(other.createdAt)} · ${jobName(other)} · ${plural(other.progress.pages, 'page')} · ${words(other.status)}`}
          </option>
        ))}
      </Select>
    </Field>
  );
}
