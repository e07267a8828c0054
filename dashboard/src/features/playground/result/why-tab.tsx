import { useQuery } from '@tanstack/react-query';
import { formatBytes, formatDuration, plural, words } from '../../../format/format.ts';
import { Badge, HttpStatus, type Tone } from '../../../kit/badge.tsx';
import { Row, Stack } from '../../../kit/layout.tsx';
import { Sentence } from '../../../kit/sentence.tsx';
import { QueryView, Skeleton } from '../../../kit/states.tsx';
import styles from './result.module.css';
import { type Attempt, whyQuery } from './run.ts';

const MICRO = 1_000_000;

/** Each attempt with its engine, proxy, decision, evidence and cost, in the server's own sentences. */
export function WhyTab({ jobId, url }: { readonly jobId: string; readonly url: string }) {
  const why = useQuery(whyQuery(jobId, url));
  return (
    <QueryView query={why} skeleton={<Skeleton lines={6} height={20} />}>
      {({ sentences, entry, rule }) => (
        <Stack>
          <ol className={styles.why}>
            {sentences.map((sentence, index) => {
              const attempt = attemptOf(sentence, entry?.attempts ?? []);
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: sentences stand in the order of events
                <li key={index}>
                  {attempt !== null && <AttemptFacts attempt={attempt} />}
                  <p>
                    <Sentence text={sentence} />
                  </p>
                </li>
              );
            })}
          </ol>
          {rule !== null && (
            <p className={styles.faint}>
              Rule that decided: <code>{rule}</code>
            </p>
          )}
        </Stack>
      )}
    </QueryView>
  );
}

/** The attempt that a sentence tells of: these begin with its number. */
function attemptOf(sentence: string, attempts: readonly Attempt[]): Attempt | null {
  const number = /^Attempt (\d+)\b/.exec(sentence)?.[1];
  return number === undefined ? null : (attempts[Number(number) - 1] ?? null);
}

const toneOf = (outcome: string): Tone =>
  outcome === 'ok' ? 'good' : ['blocked', 'captcha', 'error'].includes(outcome) ? 'bad' : 'warn';

function AttemptFacts({ attempt }: { readonly attempt: Attempt }) {
  const { engine, outcome, statusCode, proxyTier, proxyId, vendor, ms, bytes, microcredits } = attempt;
  const credits = (microcredits ?? 0) / MICRO;
  return (
    <Row>
      <Badge tone="info">{engine}</Badge>
      <Badge tone={toneOf(outcome)}>{words(outcome)}</Badge>
      <HttpStatus code={statusCode} />
      <Badge>{proxyTier === null ? 'no proxy' : `${proxyTier} proxy${proxyId ? ` ${proxyId}` : ''}`}</Badge>
      {vendor && <Badge tone="warn">{vendor}</Badge>}
      <span className={styles.faint}>
        {`${formatDuration(ms)} · ${formatBytes(bytes)} · ${credits === 0 ? 'free' : plural(credits, 'credit')}`}
      </span>
    </Row>
  );
}
