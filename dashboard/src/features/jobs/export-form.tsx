import { useQueryClient } from '@tanstack/react-query';
import { FileDown } from 'lucide-react';
import { useState } from 'react';
import { EXPORT_TYPES } from '../../api/choices.ts';
import { api } from '../../api/client.ts';
import type { Job } from '../../api/types.ts';
import { Button } from '../../kit/button.tsx';
import { CodeSamples } from '../../kit/code-samples.tsx';
import { Checkbox, Field, Select } from '../../kit/field.tsx';
import { Card, Stack } from '../../kit/layout.tsx';
import { FailureNotice } from '../../kit/states.tsx';
import { toast } from '../../kit/toasts.tsx';
import { useEarlierJobs } from './earlier-jobs.ts';
import {
  type ExportFormat,
  type ExportRequest,
  type ExportType,
  FORMAT_NAMES,
  formatsOf,
  isExcelFormat,
} from './export-kinds.ts';
import styles from './exports.module.css';
import { JobPicker } from './job-picker.tsx';

/** What to write, in which format; the request as code below. */
export function ExportForm({ job }: { readonly job: Job }) {
  const client = useQueryClient();
  const [type, setType] = useState<ExportType>('full');
  const [chosenFormat, setFormat] = useState<ExportFormat>('csv');
  const [chosenJob, setChosenJob] = useState('');
  const earlier = useEarlierJobs(job);
  const against = chosenJob || (earlier.previous?.id ?? '');
  const [isForExcel, setIsForExcel] = useState(false);
  const [hasText, setHasText] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [isCodeShown, setIsCodeShown] = useState(false);
  const formats = formatsOf(type);
  const format = formats.includes(chosenFormat) ? chosenFormat : 'csv';
  const body: ExportRequest = {
    type,
    format,
    ...(type === 'diff' && against !== '' && { against }),
    ...(isExcelFormat(format) && isForExcel && { excel: true }),
    ...(type === 'results' && hasText && { text: true }),
  };
  const isMissing = type === 'diff' && against === '';

  const create = async () => {
    setIsBusy(true);
    setFailure(null);
    try {
      await api.post('/v1/jobs/{id}/exports', { params: { id: job.id }, body });
      toast.done('The file is being written.');
      await client.invalidateQueries({ queryKey: ['exports'] });
    } catch (cause) {
      setFailure(cause);
    } finally {
      setIsBusy(false);
    }
  };

  return (
    <Card title="New file">
      <Stack>
        <TypeChoice value={type} onChange={setType} />
        <div className={styles.line}>
          <Field label="Format">
            <Select value={format} onChange={(event) => setFormat(event.target.value as ExportFormat)}>
              {formats.map((each) => (
                <option key={each} value={each}>
                  {FORMAT_NAMES[each]}
                </option>
              ))}
            </Select>
          </Field>
          {type === 'diff' && (
            <JobPicker
              label="Earlier job"
              hint="What has changed since this job is exported."
              jobs={earlier}
              value={against}
              onChange={setChosenJob}
            />
          )}
          {isExcelFormat(format) && (
            <Checkbox
              label="For Excel"
              hint="With a byte order mark"
              checked={isForExcel}
              onChange={(event) => setIsForExcel(event.target.checked)}
            />
          )}
          {type === 'results' && (
            <Checkbox
              label="Text of each page"
              checked={hasText}
              onChange={(event) => setHasText(event.target.checked)}
            />
          )}
        </div>
        {failure !== null && <FailureNotice failure={failure} />}
        <div className={styles.line}>
          <Button icon={FileDown} isBusy={isBusy} disabled={isMissing} onClick={create}>
            Write file
          </Button>
          <Button kind="quiet" aria-expanded={isCodeShown} onClick={() => setIsCodeShown(!isCodeShown)}>
            {isCodeShown ? 'Hide code' : 'As code'}
          </Button>
        </div>
        {isCodeShown && (
          <CodeSamples request={{ method: 'POST', path: `/v1/jobs/${job.id}/exports`, body }} />
        )}
      </Stack>
    </Card>
  );
}

function TypeChoice({
  value,
  onChange,
}: {
  readonly value: ExportType;
  readonly onChange: (type: ExportType) => void;
}) {
  return (
    <fieldset className={styles.types}>
      <legend className="visually-hidden">What to export</legend>
      {EXPORT_TYPES.map((type) => (
        <label key={type.value} className={styles.type}>
          <input
            type="radio"
            name="export-type"
            value={type.value}
            checked={type.value === value}
            onChange={() => onChange(type.value)}
          />
          <span>
            <strong>{type.label}</strong>
            <span>{type.about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
