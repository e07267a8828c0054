import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { asApiError, problemOf } from '../api/api-error.ts';
import { api } from '../api/client.ts';
import { formatDateTime } from '../format/format.ts';
import { Field, Segmented, Select, TextInput } from './field.tsx';
import { Row, Stack } from './layout.tsx';
import styles from './schedule-field.module.css';

export interface Timing {
  readonly kind: 'every' | 'cron';
  readonly every: string;
  readonly cron: string;
  readonly timeZone: string;
}

export const DEFAULT_TIMING: Timing = {
  kind: 'every',
  every: '1d',
  cron: '0 6 * * *',
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
};

/** The fields of a request that say when. */
export const timingBody = ({ kind, every, cron, timeZone }: Timing) =>
  kind === 'every' ? { every: every.trim() } : { cron: cron.trim(), timeZone };

export const timingText = (schedule: {
  cron: string | null;
  everyMs: number | null;
  timeZone: string;
}): string => {
  if (schedule.cron !== null) return `${schedule.cron} (${schedule.timeZone})`;
  const minutes = (schedule.everyMs ?? 0) / 60_000;
  if (minutes >= 1440 && minutes % 1440 === 0)
    return minutes === 1440 ? 'every day' : `every ${minutes / 1440} days`;
  if (minutes >= 60 && minutes % 60 === 0)
    return minutes === 60 ? 'every hour' : `every ${minutes / 60} hours`;
  return minutes >= 1 ? `every ${minutes} min` : `every ${(schedule.everyMs ?? 0) / 1000} s`;
};

const EVERY = ['5m', '15m', '1h', '6h', '12h', '1d', '7d'] as const;
const NAMES: Readonly<Record<string, string>> = {
  '5m': '5 minutes',
  '15m': '15 minutes',
  '1h': 'hour',
  '6h': '6 hours',
  '12h': '12 hours',
  '1d': 'day',
  '7d': 'week',
};
const ZONES = Intl.supportedValuesOf('timeZone');

/** When something runs: at an interval or by a cron line, with the next times as the server reckons them. */
export function ScheduleField({
  value,
  onChange,
  failure,
  prefix = '',
}: {
  readonly value: Timing;
  readonly onChange: (value: Timing) => void;
  /** The failure of the request that was refused. */
  readonly failure: unknown;
  /** Before the names of the fields in the request, such as `schedule.`. */
  readonly prefix?: string;
}) {
  const asked = useDeferredValue(value);
  const preview = useQuery({
    queryKey: ['schedules', 'preview', timingBody(asked)],
    queryFn: ({ signal }) => api.post('/v1/schedules/preview', { body: timingBody(asked), signal }),
    retry: false,
  });
  const wrong =
    preview.error === null
      ? undefined
      : (asApiError(preview.error).problems[0]?.message ?? preview.error.message);
  return (
    <Stack gap="small">
      <Segmented
        label="When"
        value={value.kind}
        onChange={(kind) => onChange({ ...value, kind })}
        options={[
          { value: 'every', label: 'At an interval' },
          { value: 'cron', label: 'At times of the day (cron)' },
        ]}
      />
      {value.kind === 'every' ? (
        <Field label="Every" error={problemOf(failure, `${prefix}every`)}>
          <Select value={value.every} onChange={(event) => onChange({ ...value, every: event.target.value })}>
            {[...new Set<string>([...EVERY, value.every])].map((every) => (
              <option key={every} value={every}>
                {NAMES[every] ?? every}
              </option>
            ))}
          </Select>
        </Field>
      ) : (
        <Row align="start">
          <Field
            label="Cron line"
            hint="minute hour day month weekday, such as 30 2 * * MON-FRI"
            error={wrong ?? problemOf(failure, `${prefix}cron`)}
          >
            <TextInput
              value={value.cron}
              onChange={(event) => onChange({ ...value, cron: event.target.value })}
            />
          </Field>
          <Field label="Time zone" error={problemOf(failure, `${prefix}timeZone`)}>
            <Select
              value={value.timeZone}
              onChange={(event) => onChange({ ...value, timeZone: event.target.value })}
            >
              {[...new Set(['UTC', value.timeZone, ...ZONES])].map((zone) => (
                <option key={zone}>{zone}</option>
              ))}
            </Select>
          </Field>
        </Row>
      )}
      <p className={styles.next} aria-live="polite">
        {preview.data
          ? `Next: ${preview.data.items
              .slice(0, 3)
              .map(({ at }) => formatDateTime(at))
              .join(' · ')}`
          : '\u00A0'}
      </p>
    </Stack>
  );
}
