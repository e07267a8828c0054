import { Segmented } from '../../kit/field.tsx';
import { Card, Columns, Row, Stack } from '../../kit/layout.tsx';
import { CheckField, Fold, type Form, LinesField, TextField } from './form-parts.tsx';
import type { FormKind } from './job-form.ts';
import styles from './new-job.module.css';

const KINDS: readonly { value: FormKind; label: string; about: string; urls: string; hint: string }[] = [
  {
    value: 'crawl',
    label: 'Crawl',
    about: 'Follows the links of a site from the URLs you give.',
    urls: 'Start URLs',
    hint: 'One a line. Links that stay on their hosts are followed.',
  },
  {
    value: 'sitemap',
    label: 'Sitemap',
    about: 'Fetches the pages that sitemaps name, and follows no links.',
    urls: 'Sitemaps',
    hint: 'One a line, such as https://example.com/sitemap.xml. Indexes of sitemaps work too.',
  },
  {
    value: 'batch',
    label: 'Batch',
    about: 'Fetches exactly the URLs you give.',
    urls: 'URLs',
    hint: 'One a line, 10,000 at most. A URL given twice is fetched once.',
  },
];

export function SeedSection({ form, kind }: { readonly form: Form; readonly kind: FormKind }) {
  const words = KINDS.find(({ value }) => value === kind) ?? KINDS[0];
  return (
    <Card title="What to fetch" about={words?.about}>
      <Stack>
        <Row>
          <Segmented
            label="Kind of job"
            value={kind}
            options={KINDS}
            onChange={(value) => form.setValue('kind', value, { shouldDirty: true })}
          />
        </Row>
        <LinesField
          form={form}
          name="urls"
          label={words?.urls ?? 'URLs'}
          hint={words?.hint}
          rows={kind === 'batch' ? 8 : 3}
          placeholder={kind === 'sitemap' ? 'https://example.com/sitemap.xml' : 'https://example.com/'}
        />
        {kind === 'batch' && (
          <CheckField form={form} name="ignoreInvalidUrls" label="Leave out lines that are no URL" />
        )}
      </Stack>
    </Card>
  );
}

export function ScopeSection({ form }: { readonly form: Form }) {
  return (
    <Card title="Scope" about="Which of the URLs that are found belong to the job.">
      <Stack>
        <Columns>
          <LinesField
            form={form}
            name="include"
            label="Only these"
            hint="Patterns, one a line: /blog/* for paths, re: before a regular expression. Empty: all."
            placeholder="/blog/*"
          />
          <LinesField
            form={form}
            name="exclude"
            label="Not these"
            hint="Patterns, one a line."
            placeholder="/cart/*"
          />
        </Columns>
        <div className={styles.checks}>
          <CheckField form={form} name="allowSubdomains" label="Subdomains too" />
          <CheckField form={form} name="readsSitemap" label="Read sitemaps too" />
        </div>
        <Fold
          title="Advanced scope"
          form={form}
          names={['maxDepth', 'allowedDomains', 'ignoreQueryParameters', 'allowExternal', 'ifModified']}
        >
          <Columns>
            <TextField
              form={form}
              name="maxDepth"
              label="Links from a start URL at most"
              inputMode="numeric"
              placeholder="no limit"
            />
            <LinesField
              form={form}
              name="allowedDomains"
              label="Hosts of the job"
              hint="Empty: those of the start URLs. *.example.com: subdomains only."
            />
            <LinesField
              form={form}
              name="ignoreQueryParameters"
              label="Query parameters to ignore"
              hint="Those of trackers are known. * at the end is a wildcard."
            />
          </Columns>
          <div className={styles.checks}>
            <CheckField form={form} name="allowExternal" label="Follow links to any host" />
            <CheckField form={form} name="obeyNofollow" label="Obey nofollow" />
            <CheckField form={form} name="obeyNoindex" label="Leave out noindex pages" />
            <CheckField form={form} name="followCanonical" label="rel=canonical is the same page" />
            <CheckField
              form={form}
              name="avoidQueryTraps"
              label="Leave out endless queries"
              hint="Calendars, filters, session ids"
            />
            <CheckField form={form} name="keepFragment" label="#… makes another page" />
            <CheckField
              form={form}
              name="ifModified"
              label="Only what changed"
              hint="Since the last crawl of these URLs"
            />
          </div>
        </Fold>
      </Stack>
    </Card>
  );
}

export function LimitSection({ form, kind }: { readonly form: Form; readonly kind: FormKind }) {
  return (
    <Card
      title="Limits"
      about="The job stops at the first one that it reaches. It can be resumed with a higher one."
    >
      <Stack>
        <Columns min="narrow">
          {kind !== 'batch' && (
            <TextField form={form} name="maxPages" label="Pages" inputMode="numeric" placeholder="no limit" />
          )}
          <TextField
            form={form}
            name="maxMinutes"
            label="Minutes"
            inputMode="decimal"
            placeholder="no limit"
          />
          <TextField
            form={form}
            name="maxCredits"
            label="Credits"
            inputMode="decimal"
            placeholder="no limit"
          />
        </Columns>
        <Fold
          title="More limits"
          form={form}
          names={['maxMegabytes', 'maxBrowserMinutes', 'maxProxyMegabytes']}
        >
          <Columns min="narrow">
            <TextField
              form={form}
              name="maxMegabytes"
              label="Megabytes"
              inputMode="decimal"
              placeholder="no limit"
            />
            <TextField
              form={form}
              name="maxBrowserMinutes"
              label="Minutes of browsers"
              inputMode="decimal"
              placeholder="no limit"
            />
            <TextField
              form={form}
              name="maxProxyMegabytes"
              label="Megabytes by proxies"
              inputMode="decimal"
              placeholder="no limit"
            />
          </Columns>
        </Fold>
      </Stack>
    </Card>
  );
}
