import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { problemOf } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import { formatNumber } from '../../format/format.ts';
import { Button } from '../../kit/button.tsx';
import { Field, TextInput } from '../../kit/field.tsx';
import { Card, Columns, KeyValues, Row, Stack } from '../../kit/layout.tsx';
import { FailureNotice, QueryView } from '../../kit/states.tsx';
import { Time } from '../../kit/time.tsx';
import { useAction } from '../../kit/use-action.ts';

/** The credits of an account: the remaining ones, the monthly allowance, and grants. */
export function CreditsCard({ account: id }: { readonly account: string }) {
  const credits = useQuery({
    queryKey: ['accounts', id, 'credits'],
    queryFn: ({ signal }) => api.get('/v1/accounts/{id}/credits', { params: { id }, signal }),
  });
  const action = useAction(['accounts', id]);
  return (
    <Card title="Credits" about="Without an allowance the account may use as many as it likes.">
      <QueryView query={credits}>
        {({ credits: found }) => (
          <Stack>
            {found === null ? (
              <p>No limit of credits.</p>
            ) : (
              <KeyValues
                entries={[
                  ['Available', formatNumber(found.availableCredits)],
                  [
                    'Of this month',
                    `${formatNumber(found.allowanceCredits)} of ${formatNumber(found.monthlyCredits)}`,
                  ],
                  ['Granted', formatNumber(found.balanceCredits)],
                  ['Held for pages under way', formatNumber(found.heldCredits)],
                  ['Renews', <Time key="renews" at={found.renewsAt} />],
                ]}
              />
            )}
            <Columns>
              <AmountForm
                label="Credits a month"
                action="Set allowance"
                field="monthlyCredits"
                submit={(monthlyCredits) =>
                  api.put('/v1/accounts/{id}/credits', { params: { id }, body: { monthlyCredits } })
                }
                onDone={() => action.run(async () => {}, 'The allowance is set.')}
              />
              <AmountForm
                label="Grant once"
                action="Grant credits"
                field="amount"
                submit={(amount) =>
                  api.post('/v1/accounts/{id}/credits', {
                    params: { id },
                    body: { amount, reason: 'Granted in the dashboard' },
                    idempotencyKey: crypto.randomUUID(),
                  })
                }
                onDone={() => action.run(async () => {}, 'The credits are granted.')}
              />
            </Columns>
            {found !== null && (
              <Row>
                <Button
                  kind="quiet"
                  onClick={() =>
                    action.run(
                      () => api.delete('/v1/accounts/{id}/credits', { params: { id } }),
                      'The limit is removed.',
                    )
                  }
                >
                  Remove the limit of credits
                </Button>
              </Row>
            )}
          </Stack>
        )}
      </QueryView>
    </Card>
  );
}

function AmountForm({
  label,
  action,
  field,
  submit,
  onDone,
}: {
  readonly label: string;
  readonly action: string;
  readonly field: string;
  readonly submit: (amount: number) => Promise<unknown>;
  readonly onDone: () => void;
}) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | undefined>();
  const [failure, setFailure] = useState<unknown>(null);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const amount = Number(text);
    const isWrong = text.trim() === '' || !Number.isFinite(amount) || amount < 0;
    setProblem(isWrong ? 'Enter a number of credits, such as 1000.' : undefined);
    setFailure(null);
    if (isWrong) return;
    try {
      await submit(amount);
      setText('');
      onDone();
    } catch (cause) {
      setFailure(cause);
    }
  };
  return (
    <form onSubmit={send} noValidate>
      <Stack gap="small">
        <Field label={label} error={problem ?? problemOf(failure, field)}>
          <TextInput inputMode="decimal" value={text} onChange={(event) => setText(event.target.value)} />
        </Field>
        {failure !== null && <FailureNotice failure={failure} />}
        <Row>
          <Button type="submit">{action}</Button>
        </Row>
      </Stack>
    </form>
  );
}
