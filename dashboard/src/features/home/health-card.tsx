import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../app/session-context.ts';
import { Badge } from '../../kit/badge.tsx';
import { Card, KeyValues, Row } from '../../kit/layout.tsx';
import { FailureState, Skeleton } from '../../kit/states.tsx';

interface Readiness {
  readonly status?: string;
  readonly parts?: Readonly<Record<string, { readonly status: string; readonly message?: string }>>;
}

/** `/readyz` answers 503 with the same body while something is missing, so it is read in either case. */
async function readiness({ signal }: { readonly signal: AbortSignal }): Promise<Readiness> {
  const response = await fetch('/readyz', { signal, headers: { accept: 'application/json' } });
  const body = (await response.json()) as { data?: Readiness } & Readiness;
  return body.data ?? body;
}

export function HealthCard() {
  const { version, profile } = useSession();
  const ready = useQuery({ queryKey: ['readiness'], queryFn: readiness, refetchInterval: 15_000 });
  return (
    <Card title="Health">
      {ready.error !== null && <FailureState failure={ready.error} onRetry={() => void ready.refetch()} />}
      {ready.data === undefined && ready.error === null && <Skeleton lines={4} />}
      {ready.data && (
        <KeyValues
          entries={[
            ['Server', `${version}, ${profile === 'fleet' ? 'part of a fleet' : 'one process'}`],
            ...Object.entries(ready.data.parts ?? {}).map(
              ([name, part]) => [name, <PartState key={name} {...part} />] as const,
            ),
          ]}
        />
      )}
    </Card>
  );
}

const PartState = ({ status, message }: { readonly status: string; readonly message?: string }) => (
  <Row>
    <Badge tone={status === 'ok' ? 'good' : status === 'degraded' ? 'warn' : 'bad'}>{status}</Badge>
    {message}
  </Row>
);
