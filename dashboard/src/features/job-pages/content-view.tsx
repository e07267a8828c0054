import { useState } from 'react';
import type { Page } from '../../api/types.ts';
import { CodeBlock } from '../../kit/code-block.tsx';
import { Segmented } from '../../kit/field.tsx';
import { Card } from '../../kit/layout.tsx';
import { Markdown } from '../../kit/markdown.tsx';
import { SandboxFrame } from '../../kit/sandbox-frame.tsx';
import { EmptyState, QueryView, Skeleton } from '../../kit/states.tsx';
import { artifactHref, previewHref } from './page-address.ts';
import type { PageViewProps } from './page-props.ts';
import styles from './page-views.module.css';
import { useAddress } from './row-search.ts';

const FORMS = ['preview', 'screenshot', 'markdown', 'text', 'html', 'rawHtml'] as const;
type Form = (typeof FORMS)[number];
const NAMES: Readonly<Record<Form, string>> = {
  preview: 'Preview',
  screenshot: 'Screenshot',
  markdown: 'Markdown',
  text: 'Text',
  html: 'HTML',
  rawHtml: 'HTML as sent',
};

const isKept = (page: Page, form: Form): boolean =>
  form === 'preview'
    ? /html/i.test(page.contentType ?? 'html')
    : page[form] !== undefined && page[form] !== null;

/** What the page said, in each form that was kept. */
export function ContentView({ jobId, page, number }: PageViewProps) {
  const [raw, change] = useAddress();
  return (
    <QueryView query={page} skeleton={<Skeleton lines={10} />}>
      {(found) => {
        if (found === null) return <NothingStored />;
        const kept = FORMS.filter((form) => isKept(found, form));
        const form = kept.find((each) => each === raw.form) ?? kept[0];
        if (form === undefined) return <NothingStored />;
        return (
          <Card
            title="Content"
            actions={
              <Segmented
                label="Form of the content"
                value={form}
                options={kept.map((value) => ({ value, label: NAMES[value] }))}
                onChange={(value) => change({ form: value })}
              />
            }
          >
            <Content jobId={jobId} page={found} number={number} form={form} />
            {kept.length < FORMS.length && (
              <p className={styles.note}>
                {`Not kept by this job: ${FORMS.filter((each) => !kept.includes(each))
                  .map((each) => NAMES[each])
                  .join(', ')}. Ask for them with \`formats\` when a crawl is started.`}
              </p>
            )}
          </Card>
        );
      }}
    </QueryView>
  );
}

function Content({
  jobId,
  page,
  number,
  form,
}: {
  readonly jobId: string;
  readonly page: Page;
  readonly number: string | undefined;
  readonly form: Form;
}) {
  const [look, setLook] = useState<'rendered' | 'raw'>('rendered');
  switch (form) {
    case 'preview':
      return number === undefined ? (
        <Skeleton lines={10} />
      ) : (
        <SandboxFrame src={previewHref(jobId, number)} title={`Preview of ${page.title ?? page.url}`} />
      );
    case 'screenshot':
      return page.screenshot ? (
        <img
          className={styles.picture}
          src={artifactHref(page.screenshot.url)}
          alt={`Screenshot of ${page.title ?? page.url}`}
          loading="lazy"
        />
      ) : null;
    case 'markdown':
      return (
        <>
          <Segmented
            label="Look of the Markdown"
            value={look}
            options={[
              { value: 'rendered', label: 'Rendered' },
              { value: 'raw', label: 'Source' },
            ]}
            onChange={setLook}
          />
          {look === 'raw' ? (
            <CodeBlock text={page.markdown ?? ''} label="Markdown" />
          ) : (
            <Markdown text={page.markdown ?? ''} />
          )}
        </>
      );
    default:
      return <CodeBlock text={page[form] ?? ''} label={NAMES[form]} />;
  }
}

export const NothingStored = () => (
  <Card>
    <EmptyState title="No page is stored for this URL">
      It was left out, has failed without a response, or still waits. The timeline says why.
    </EmptyState>
  </Card>
);
