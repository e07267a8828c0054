import { useMutation } from '@tanstack/react-query';
import { Radar } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { formatNumber } from '../../format/format.ts';
import { fullUrl, isPageUrl, linesOf } from '../../format/full-url.ts';
import { Button } from '../../kit/button.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { Segmented } from '../../kit/field.tsx';
import { Card, Row, Stack } from '../../kit/layout.tsx';
import { FailureNotice, Notice } from '../../kit/states.tsx';
import type { JobForm } from './job-form.ts';
import styles from './new-job.module.css';

const MOST_LISTED = 1_000;
const MOST_SHOWN = 200;
/** A start URL is in the list of the map by this rule, and so is every URL that the crawl would fetch. */
const LISTED = 'map.listed';

/** Which URLs near the start belong to the scope: those of the start page and of sitemaps, by a map. */
async function previewScope(form: JobForm) {
  const [first = ''] = linesOf(form.urls).map(fullUrl);
  const map = await api.post('/v1/map', {
    body: {
      url: form.kind === 'sitemap' && URL.canParse(first) ? new URL('/', first).href : first,
      sitemap: form.kind === 'sitemap' ? 'only' : form.readsSitemap ? 'include' : 'skip',
      include: linesOf(form.include),
      exclude: linesOf(form.exclude),
      allowSubdomains: form.allowSubdomains,
      ignoreQueryParameters: linesOf(form.ignoreQueryParameters),
      limit: MOST_LISTED,
    },
  });
  if (!('pages' in map))
    throw new Error('The map takes too long. Start the crawl with a low limit of pages instead.');
  const { items } = await api.get('/v1/jobs/{id}/rows', {
    params: { id: map.id },
    query: { kind: 'page', limit: MOST_LISTED },
  });
  const left = items.filter(
    ({ state, rule }) => (state === 'skipped' && rule !== LISTED) || state === 'denied' || state === 'failed',
  );
  return { id: map.id, inside: map.pages, outside: left, isTruncated: map.isTruncated };
}

/** Looks at the start of the site, and shows which URLs would be in the job and which not, with the rule. */
export function ScopePreview({
  form,
  onMapped,
}: {
  readonly form: JobForm;
  readonly onMapped: (mapId: string) => void;
}) {
  const [side, setSide] = useState<'in' | 'out'>('in');
  const preview = useMutation({ mutationFn: previewScope, onSuccess: ({ id }) => onMapped(id) });
  const found = preview.data;
  const canRun = linesOf(form.urls).some(isPageUrl);
  return (
    <Card
      title="Scope preview"
      about="Reads the first page and the sitemaps, and fetches nothing else."
      actions={
        <Button
          icon={Radar}
          size="small"
          disabled={!canRun}
          isBusy={preview.isPending}
          onClick={() => preview.mutate(form)}
        >
          {found ? 'Again' : 'Preview'}
        </Button>
      }
    >
      {preview.error !== null && <FailureNotice failure={preview.error} />}
      {found !== undefined && (
        <Stack gap="small">
          <Row>
            <Segmented
              label="URLs"
              value={side}
              onChange={setSide}
              options={[
                {
                  value: 'in',
                  label: `In (${formatNumber(found.inside.length)}${found.isTruncated ? '+' : ''})`,
                },
                { value: 'out', label: `Out (${formatNumber(found.outside.length)})` },
              ]}
            />
          </Row>
          {side === 'in' ? (
            <ul className={styles.urls} aria-label="URLs in the scope">
              {found.inside.slice(0, MOST_SHOWN).map(({ url, title }) => (
                <li key={url}>
                  <ExternalLink url={url} />
                  {title !== null && <span className={styles.why}>{title}</span>}
                </li>
              ))}
            </ul>
          ) : (
            <ul className={styles.urls} aria-label="URLs out of the scope">
              {found.outside.slice(0, MOST_SHOWN).map(({ url, message, rule }) => (
                <li key={url}>
                  <ExternalLink url={url} />
                  <span className={styles.why}>{message ?? rule}</span>
                </li>
              ))}
            </ul>
          )}
          {(side === 'in' ? found.inside : found.outside).length > MOST_SHOWN && (
            <p className={styles.why}>{`The first ${MOST_SHOWN} are shown.`}</p>
          )}
          {(linesOf(form.allowedDomains).length > 0 || form.allowExternal) && (
            <Notice>
              A map stays on the host of the first URL: other hosts of the job are not in this list.
            </Notice>
          )}
        </Stack>
      )}
    </Card>
  );
}
