import { Clock, Coins, Cpu, Network, Weight } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Attempt } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber, plural, words } from '../../format/format.ts';
import { Badge, HttpStatus, StatusBadge, type Tone } from '../../kit/badge.tsx';
import { Card, Columns, KeyValues, Row, Stack } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { EmptyState, QueryView, Skeleton } from '../../kit/states.tsx';
import { Time } from '../../kit/time.tsx';
import type { PageViewProps } from './page-props.ts';
import styles from './page-views.module.css';

/** What happened to the URL, in sentences, and every attempt with its decision and evidence. */
export function AttemptsView({ why }: PageViewProps) {
  return (
    <QueryView query={why} skeleton={<Skeleton lines={8} />}>
      {({ sentences, entry, state, rule, code }) => (
        <Columns min="wide">
          <Card title="What happened">
            <Stack>
              <ol className={styles.story}>
                {sentences.map((sentence) => (
                  <li key={sentence}>
                    <Sentence text={sentence} />
                  </li>
                ))}
              </ol>
              <KeyValues
                entries={[
                  ['State', state === 'unseen' ? 'never seen' : <StatusBadge key="state" status={state} />],
                  ['Error', code === null ? undefined : <code key="code">{code}</code>],
                  ['Rule', rule === null ? undefined : <code key="rule">{rule}</code>],
                  ['Found by', entry === null ? undefined : words(entry.foundBy)],
                  ['Found on', entry?.foundOn ?? undefined],
                  ['Discovered', entry === null ? undefined : <Time key="at" at={entry.discoveredAt} />],
                ]}
              />
            </Stack>
          </Card>
          <Card
            title={`Attempts${entry === null ? '' : ` (${formatNumber(entry.attempts.length)})`}`}
            about="The cheapest way that is likely to work comes first; evidence leads to a dearer one."
          >
            {entry === null || entry.attempts.length === 0 ? (
              <EmptyState title="No request was made">
                A rule decided before the first request, or the URL still waits for its turn.
              </EmptyState>
            ) : (
              <ol className={styles.timeline}>
                {entry.attempts.map((attempt, index) => (
                  <AttemptStep
                    // biome-ignore lint/suspicious/noArrayIndexKey: attempts have no identity beside their place
                    key={index}
                    attempt={attempt}
                    number={index + 1}
                    decision={decisionOf(sentences, index + 1, attempt.reason)}
                  />
                ))}
              </ol>
            )}
          </Card>
        </Columns>
      )}
    </QueryView>
  );
}

/** The words for the reason of an attempt, which the sentence about the attempt has before its code. */
function decisionOf(sentences: readonly string[], number: number, reason: string): string | null {
  const sentence = sentences.find((each) => each.startsWith(`Attempt ${number} `));
  const before = sentence?.split(` [${reason}]`)[0];
  return before === undefined || before === sentence ? null : (before.split('. ').at(-1) ?? null);
}

const toneOf = ({ outcome, errorCode }: Attempt): Tone =>
  errorCode !== undefined ? 'bad' : outcome === 'ok' ? 'good' : 'warn';

function AttemptStep({
  attempt,
  number,
  decision,
}: {
  readonly attempt: Attempt;
  readonly number: number;
  readonly decision: string | null;
}) {
  const { engine, proxyTier, proxyId, identity, reason, outcome, evidence, vendor, errorCode } = attempt;
  const { statusCode, waitedMs, ms, bytes, microcredits = 0, extras, redirects = [], at } = attempt;
  const used = [
    extras?.tokens && `${formatNumber(extras.tokens)} tokens`,
    extras?.solverCalls && `${formatNumber(extras.solverCalls)} calls of a solver`,
    extras?.screenshots && `${formatNumber(extras.screenshots)} screenshots`,
    extras?.pdfs && `${formatNumber(extras.pdfs)} PDFs`,
  ].filter(Boolean);
  return (
    <li className={styles.step}>
      <Row>
        <strong>{`Attempt ${number}`}</strong>
        <Badge tone={toneOf(attempt)}>{words(outcome)}</Badge>
        <HttpStatus code={statusCode} />
        {errorCode !== undefined && <code>{errorCode}</code>}
        <span className={styles.when}>
          <Time at={at} />
        </span>
      </Row>
      <p>
        {decision !== null && <Sentence text={`${decision} `} />}
        <code className={styles.evidence}>{reason}</code>
      </p>
      {evidence !== undefined && (
        <p className={styles.evidence}>
          Evidence: {evidence}
          {vendor !== undefined && ` (${vendor})`}
        </p>
      )}
      {redirects.length > 0 && (
        <p className={styles.evidence}>
          {`Redirects: ${redirects.map(({ url, statusCode: code }) => `${code} ${url}`).join(' → ')}`}
        </p>
      )}
      <Row className={styles.facts}>
        <Fact icon={Cpu} label="Engine">{`${engine}${identity === undefined ? '' : ` as ${identity}`}`}</Fact>
        <Fact icon={Network} label="Proxy">
          {proxyTier === null ? 'no proxy' : `${proxyTier}${proxyId === undefined ? '' : ` (${proxyId})`}`}
        </Fact>
        <Fact icon={Clock} label="Time">
          {`${formatDuration(ms)}${waitedMs ? `, waited ${formatDuration(waitedMs)} before` : ''}`}
        </Fact>
        <Fact icon={Weight} label="Size">
          {formatBytes(bytes)}
        </Fact>
        <Fact icon={Coins} label="Cost">
          {`${plural(microcredits / 1_000_000, 'credit')}${used.length > 0 ? ` (${used.join(', ')})` : ''}`}
        </Fact>
      </Row>
    </li>
  );
}

const Fact = ({
  icon: Icon,
  label,
  children,
}: {
  readonly icon: typeof Clock;
  readonly label: string;
  readonly children: ReactNode;
}) => (
  <span className={styles.fact}>
    <Icon size={14} aria-hidden />
    <span className="visually-hidden">{label}: </span>
    {children}
  </span>
);
