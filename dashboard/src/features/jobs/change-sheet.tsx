import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { SiteChange } from '../../api/types.ts';
import { formatDateTime } from '../../format/format.ts';
import { HttpStatus } from '../../kit/badge.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DiffView } from '../../kit/diff-view.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { FieldDiff } from '../../kit/field-diff.tsx';
import { KeyValues, Row, Stack } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { Notice } from '../../kit/states.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { ChangeBadge } from './change-badge.tsx';
import styles from './compare.module.css';

type View = 'text' | 'fields' | 'visual';

/** One changed page: its texts, fields and pictures before and after. */
export function ChangeSheet({
  change,
  jobId,
  against,
  onClose,
}: {
  readonly change: SiteChange;
  readonly jobId: string;
  readonly against: string;
  readonly onClose: () => void;
}) {
  const texts = change.comparison?.texts ?? [];
  const fields = change.comparison?.fields ?? [];
  const [view, setView] = useState<View>(texts.length > 0 ? 'text' : fields.length > 0 ? 'fields' : 'visual');
  const before = change.previous && `Before · ${formatDateTime(change.previous.fetchedAt)}`;
  const after = change.current && `After · ${formatDateTime(change.current.fetchedAt)}`;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      shape="sheet"
      title={
        <Row>
          <ChangeBadge type={change.type} />
          <span className={styles.title}>{change.current?.title ?? change.previous?.title ?? 'Page'}</span>
        </Row>
      }
      about={<ExternalLink url={change.url} />}
    >
      <Stack>
        {change.reason !== null && (
          <Notice>
            <Sentence text={change.reason.message} />
          </Notice>
        )}
        {change.previousUrl !== null && (
          <p>
            It was at <ExternalLink url={change.previousUrl} />.
          </p>
        )}
        <Tabs<View>
          label="What to compare"
          value={view}
          onChange={setView}
          tabs={[
            {
              value: 'text',
              label: 'Text',
              content:
                texts.length === 0 ? (
                  <Notice>The text is the same, or there is one version only.</Notice>
                ) : (
                  <Stack>
                    {texts.map(({ name, diff }) => (
                      <Stack key={name} gap="small">
                        {texts.length > 1 && <h3>{name}</h3>}
                        <DiffView
                          diff={diff}
                          label={`Comparison of ${name}`}
                          {...(before && { before })}
                          {...(after && { after })}
                        />
                      </Stack>
                    ))}
                  </Stack>
                ),
            },
            {
              value: 'fields',
              label: `Fields${fields.length > 0 ? ` (${fields.length})` : ''}`,
              content: <Fields change={change} />,
            },
            {
              value: 'visual',
              label: 'Visual',
              content: <Pictures change={change} jobId={jobId} against={against} />,
            },
          ]}
        />
        <Row>
          {change.current !== null && (
            <PageLink jobId={jobId} url={change.current.finalUrl} text="Page of this job" />
          )}
          {change.previous !== null && (
            <PageLink jobId={against} url={change.previous.finalUrl} text="Page of the earlier job" />
          )}
        </Row>
      </Stack>
    </Dialog>
  );
}

const PageLink = ({
  jobId,
  url,
  text,
}: {
  readonly jobId: string;
  readonly url: string;
  readonly text: string;
}) => (
  <Link to="/jobs/$id/url" params={{ id: jobId }} search={{ u: url }}>
    {text}
  </Link>
);

function Fields({ change }: { readonly change: SiteChange }) {
  const fields = change.comparison?.fields ?? [];
  return (
    <Stack>
      {fields.length > 0 && <FieldDiff fields={fields} />}
      <KeyValues
        entries={(['previous', 'current'] as const).map((side) => {
          const page = change[side];
          return [
            side === 'previous' ? 'Before' : 'After',
            page === null ? (
              'no page'
            ) : (
              <span key={side}>
                <HttpStatus code={page.statusCode} /> {page.title ?? 'without a title'}
                {page.price !== null && ` · ${page.price} ${page.currency ?? ''}`}
                {page.availability !== null && ` · ${page.availability}`}
              </span>
            ),
          ] as const;
        })}
      />
    </Stack>
  );
}

/** The screenshots of both pages, where the jobs kept any. */
function Pictures({
  change,
  jobId,
  against,
}: {
  readonly change: SiteChange;
  readonly jobId: string;
  readonly against: string;
}) {
  const share = pictureShare(change.comparison?.picture);
  return (
    <Stack>
      {share !== null && <Notice>{`${(share * 100).toFixed(1)} % of the pixels differ.`}</Notice>}
      <div className={styles.pictures}>
        <Picture jobId={against} page={change.previous?.page} label="Before" />
        <Picture jobId={jobId} page={change.current?.page} label="After" />
      </div>
    </Stack>
  );
}

function pictureShare(picture: unknown): number | null {
  if (typeof picture !== 'object' || picture === null || !('share' in picture)) return null;
  return typeof picture.share === 'number' ? picture.share : null;
}

function Picture({
  jobId,
  page,
  label,
}: {
  readonly jobId: string;
  readonly page: string | undefined;
  readonly label: string;
}) {
  const [isMissing, setIsMissing] = useState(page === undefined);
  return (
    <figure className={styles.picture}>
      <figcaption>{label}</figcaption>
      {isMissing ? (
        <p>No screenshot was kept. Jobs with the format “screenshot” keep one of each page.</p>
      ) : (
        <img
          src={`/v1/jobs/${jobId}/pages/${page}/artifacts/screenshot`}
          alt={`Screenshot ${label.toLowerCase()}`}
          loading="lazy"
          onError={() => setIsMissing(true)}
        />
      )}
    </figure>
  );
}
