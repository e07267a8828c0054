import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../kit/button.tsx';
import { Checkbox, Field, Select } from '../../kit/field.tsx';
import { Card, Columns, Row, Stack } from '../../kit/layout.tsx';
import {
  type ExportFormat,
  type ExportType,
  FORMAT_NAMES,
  formatsOf,
  JOB_EXPORT_TYPES,
} from './export-kinds.ts';
import { CheckField, Fold, type Form, LinesField, TextField } from './form-parts.tsx';
import styles from './new-job.module.css';

const FORMATS: readonly (readonly [string, string, string?])[] = [
  ['metadata', 'Metadata', 'Title, description, language'],
  ['links', 'Links'],
  ['markdown', 'Markdown'],
  ['text', 'Text'],
  ['content', 'Main content', 'With author and date'],
  ['structured', 'Structured data', 'JSON-LD, microdata'],
  ['html', 'HTML, cleaned'],
  ['rawHtml', 'HTML as it came'],
  ['screenshot', 'Screenshot', 'Needs a browser'],
  ['pdf', 'PDF', 'Needs a browser'],
  ['xhr', 'Answers to scripts', 'Needs a browser'],
];

const ENGINES: readonly (readonly [string, string])[] = [
  ['auto', 'Automatic'],
  ['http', 'Plain HTTP'],
  ['browser', 'Browser'],
  ['stealth', 'Disguised browser (needs consent)'],
  ['flaresolverr', 'FlareSolverr (needs consent)'],
  ['firecrawl', 'Firecrawl-compatible API (needs consent)'],
  ['replay', 'Replay from an archive'],
];

const TYPES = [
  'auto',
  'product',
  'article',
  'job_posting',
  'recipe',
  'event',
  'forum_thread',
  'organization',
  'company_website',
  'linkedin_profile',
  'breadcrumbs',
];

export function FetchSection({ form }: { readonly form: Form }) {
  const engine = form.watch('engine');
  return (
    <Card
      title="Politeness and engine"
      about="Hosts are asked as slowly as robots.txt and the policy of the installation say; you can only be slower."
    >
      <Columns min="narrow">
        <Field label="Engine" hint="Automatic takes the cheapest that works." error={form.errorOf('engine')}>
          <Select {...form.register('engine')}>
            {!ENGINES.some(([value]) => value === engine) && <option value={engine}>{engine}</option>}
            {ENGINES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
        <TextField
          form={form}
          name="concurrency"
          label="Requests at once"
          inputMode="numeric"
          placeholder="no limit of its own"
        />
        <TextField form={form} name="timeoutSeconds" label="Seconds for one try" inputMode="numeric" />
        <TextField form={form} name="maxAttempts" label="Tries for a URL" inputMode="numeric" />
      </Columns>
    </Card>
  );
}

export function KeepSection({ form }: { readonly form: Form }) {
  const formats = form.watch('formats');
  const toggle = (format: string) =>
    form.setValue(
      'formats',
      formats.includes(format) ? formats.filter((each) => each !== format) : [...formats, format],
      { shouldDirty: true, shouldValidate: form.formState.isSubmitted },
    );
  return (
    <Card title="What to keep">
      <Stack>
        <fieldset className={styles.checks}>
          <legend>Formats of each page</legend>
          {FORMATS.map(([value, label, hint]) => (
            <Checkbox
              key={value}
              label={label}
              hint={hint}
              checked={formats.includes(value)}
              onChange={() => toggle(value)}
            />
          ))}
        </fieldset>
        {form.errorOf('formats') !== undefined && (
          <p className={styles.error} role="alert">
            {form.errorOf('formats')}
          </p>
        )}
        <div className={styles.checks}>
          <CheckField
            form={form}
            name="snapshots"
            label="Snapshots"
            hint="Each version of a page, to compare later"
          />
          <CheckField form={form} name="search" label="Search" hint="Pages are found by full-text search" />
          <CheckField form={form} name="lake" label="Lake" hint="Pages, links and records for queries" />
        </div>
        <Fold title="Extraction" form={form} names={['extractType', 'extractRules', 'onlyMainContent']}>
          <Field
            label="Records of a type"
            hint="Such as products with price and availability."
            error={form.errorOf('extractType')}
          >
            <Select {...form.register('extractType')}>
              <option value="">None</option>
              {TYPES.map((type) => (
                <option key={type} value={type}>
                  {type.replaceAll('_', ' ')}
                </option>
              ))}
            </Select>
          </Field>
          <LinesField
            form={form}
            name="extractRules"
            label="Rules"
            rows={6}
            hint="A JSON object: a selector for each field. The playground writes them by clicking on a page."
            placeholder={'{ "name": "h1", "price": ".price" }'}
          />
          <CheckField
            form={form}
            name="onlyMainContent"
            label="Only the main content"
            hint="Without navigation and footers"
          />
        </Fold>
      </Stack>
    </Card>
  );
}

export function EndSection({ form }: { readonly form: Form }) {
  const exports = form.watch('exports');
  const [type, setType] = useState<ExportType>('full');
  const [format, setFormat] = useState<ExportFormat>('csv');
  const formats = formatsOf(type);
  const chosen = `${type}:${formats.includes(format) ? format : 'csv'}`;
  const set = (next: readonly string[]) => form.setValue('exports', [...next], { shouldDirty: true });
  return (
    <Card title="At the end" about="Files that are written, and who is told.">
      <Stack>
        <div className={styles.line}>
          <Field label="File">
            <Select value={type} onChange={(event) => setType(event.target.value as ExportType)}>
              {JOB_EXPORT_TYPES.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          </Field>
          <Field label="Format of the file">
            <Select value={format} onChange={(event) => setFormat(event.target.value as ExportFormat)}>
              {formats.map((each) => (
                <option key={each} value={each}>
                  {FORMAT_NAMES[each]}
                </option>
              ))}
            </Select>
          </Field>
          <Button icon={Plus} disabled={exports.includes(chosen)} onClick={() => set([...exports, chosen])}>
            Add file
          </Button>
        </div>
        {exports.length > 0 && (
          <Row>
            {exports.map((each) => (
              <span key={each} className={styles.chip}>
                {each.replace(':', ' · ')}
                <IconButton
                  icon={X}
                  size="small"
                  label={`Remove ${each.replace(':', ' ')}`}
                  onClick={() => set(exports.filter((other) => other !== each))}
                />
              </span>
            ))}
          </Row>
        )}
        <Columns>
          <TextField
            form={form}
            name="webhookUrl"
            label="Webhook"
            type="url"
            hint="Gets the events of this job."
            placeholder="https://"
          />
          <TextField
            form={form}
            name="webhookSecret"
            label="Secret of the webhook"
            type="password"
            autoComplete="off"
            hint="Signs what is sent; empty: one is made."
          />
        </Columns>
        <Fold title="More options as JSON" form={form} names={['more']}>
          <LinesField
            form={form}
            name="more"
            label="More options"
            rows={6}
            hint="Fields of the request that have no place above: routes, retention, options.actions, options.session, options.proxy and so on."
            placeholder={'{ "options": { "session": "shop" } }'}
          />
        </Fold>
      </Stack>
    </Card>
  );
}
