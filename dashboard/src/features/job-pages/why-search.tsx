import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleHelp } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { Data } from '../../api/types.ts';
import { Badge, StatusBadge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { Field, TextInput } from '../../kit/field.tsx';
import { Card, Row } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { QueryView, Skeleton } from '../../kit/states.tsx';
import styles from './job-pages.module.css';
import { whyQuery } from './queries.ts';
import { textOf, useAddress } from './row-search.ts';

type Causes = Data<'summarizeJob'>['causes'];

/** A URL, also without its scheme; null for words. */
function urlOf(text: string): string | null {
  if (/^https?:\/\/\S+$/i.test(text)) return text;
  return /^[\w-]+(\.[\w-]+)+(:\d+)?(\/\S*)?$/.test(text) ? `https://${text}` : null;
}

/** "Why was this skipped?": the answer for a URL, or the list narrowed to what was typed. */
export function WhySearch({
  jobId,
  causes,
  onWords,
}: {
  readonly jobId: string;
  readonly causes: Causes;
  readonly onWords: (words: string) => void;
}) {
  const [raw, change] = useAddress();
  const asked = textOf(raw.why);
  const [typed, setTyped] = useState(asked ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const text = typed.trim();
    const url = urlOf(text);
    change({ why: url ?? undefined }, true);
    if (url === null) onWords(text);
  };
  return (
    <Card
      title="Why was this skipped?"
      about="Paste a URL to read what became of it and by which rule, also when the job has never seen it. Words narrow the list below."
    >
      <form className={styles.ask} onSubmit={submit}>
        <Field label="URL, or a part of it" isLabelHidden>
          <TextInput
            value={typed}
            maxLength={8_192}
            placeholder="https://example.com/page"
            onChange={(event) => setTyped(event.target.value)}
          />
        </Field>
        <Button kind="primary" type="submit" icon={CircleHelp} disabled={typed.trim() === ''}>
          Ask why
        </Button>
      </form>
      {asked !== undefined && <Answer jobId={jobId} url={asked} causes={causes} />}
    </Card>
  );
}

function Answer({
  jobId,
  url,
  causes,
}: {
  readonly jobId: string;
  readonly url: string;
  readonly causes: Causes;
}) {
  const query = useQuery(whyQuery(jobId, url));
  return (
    <section className={styles.answer} aria-label="Answer" aria-live="polite">
      <QueryView query={query} skeleton={<Skeleton lines={3} />}>
        {(why) => {
          const advice = causes.find(
            ({ cause, errorCode }) =>
              (errorCode !== null && errorCode === why.code) || why.rule?.split(':')[0] === cause,
          )?.advice;
          return (
            <>
              <Row>
                {why.state === 'unseen' ? (
                  <Badge tone="warn">never seen</Badge>
                ) : (
                  <StatusBadge status={why.state} />
                )}
                <ExternalLink url={why.url} />
              </Row>
              <ol className={styles.sentences}>
                {why.sentences.map((sentence) => (
                  <li key={sentence}>
                    <Sentence text={sentence} />
                  </li>
                ))}
              </ol>
              {why.rule !== null && (
                <div className={styles.code}>
                  Rule: <code>{why.rule}</code>
                </div>
              )}
              {advice && (
                <div>
                  What to do: <Sentence text={advice} />
                </div>
              )}
              {why.entry !== null && (
                <Link to="/jobs/$id/url" params={{ id: jobId }} search={{ u: why.url }}>
                  Every attempt and what was stored
                </Link>
              )}
            </>
          );
        }}
      </QueryView>
    </section>
  );
}
