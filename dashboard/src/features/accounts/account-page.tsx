import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Ban, CircleCheck, Trash2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import type { Data } from '../../api/types.ts';
import { formatBytes, formatNumber } from '../../format/format.ts';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Card, Columns, Figure, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { FailureNotice, QueryView } from '../../kit/states.tsx';
import { toast } from '../../kit/toasts.tsx';
import { useAction } from '../../kit/use-action.ts';
import { KeysCard } from '../keys/keys-page.tsx';
import { AccountState } from './accounts-page.tsx';
import { CreditsCard } from './credits-card.tsx';
import { LimitsFields, type LimitTexts, limitProblems, limitsOf } from './limits-fields.tsx';

type Account = Data<'getAccountById'>;
const route = getRouteApi('/signed-in/accounts/$id');

export function AccountPage() {
  const { id } = route.useParams();
  const account = useQuery({
    queryKey: ['accounts', id],
    queryFn: ({ signal }) => api.get('/v1/accounts/{id}', { params: { id }, signal }),
  });
  return (
    <QueryView isPage query={account}>
      {(found) => <Loaded key={found.updatedAt} account={found} />}
    </QueryView>
  );
}

function Loaded({ account }: { readonly account: Account }) {
  const { id, name, used } = account;
  const navigate = useNavigate();
  const action = useAction(['accounts']);
  const [isDeleting, setIsDeleting] = useState(false);
  const params = { id };
  const enable = () => api.post('/v1/accounts/{id}/enable', { params });
  const disable = () => api.post('/v1/accounts/{id}/disable', { params });
  return (
    <>
      <PageHeader
        title={name}
        above={<Link to="/accounts">Accounts</Link>}
        about={
          <Row>
            <AccountState {...account} />
            <code>{id}</code>
          </Row>
        }
        actions={
          <>
            {account.disabledAt === null ? (
              <Button
                icon={Ban}
                isBusy={action.isBusy}
                onClick={() => action.run(disable, `“${name}” is disabled.`, () => void action.run(enable))}
              >
                Disable
              </Button>
            ) : (
              <Button
                icon={CircleCheck}
                isBusy={action.isBusy}
                onClick={() => action.run(enable, `“${name}” is enabled.`)}
              >
                Enable
              </Button>
            )}
            <Button kind="danger" icon={Trash2} onClick={() => setIsDeleting(true)}>
              Delete
            </Button>
          </>
        }
      />
      <Stack>
        <Columns min="narrow">
          <Figure label="Pages under way" value={formatNumber(used.concurrentPages)} />
          <Figure label="URLs that wait" value={formatNumber(used.openUrls)} />
          <Figure label="Stored" value={formatBytes(used.storedBytes)} />
        </Columns>
        <LimitsCard account={account} />
        <CreditsCard account={id} />
        <KeysCard account={id} />
      </Stack>
      <ConfirmDialog
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        title={`Delete the account “${name}”?`}
        about="Its jobs, pages, keys, schedules and exports are deleted with it. This cannot be undone."
        action="Delete account"
        typeToConfirm={id}
        onConfirm={async () => {
          await api.delete('/v1/accounts/{id}', { params, query: { confirm: id } });
          toast.done(`“${name}” is being deleted.`);
          await navigate({ to: '/accounts' });
        }}
      />
    </>
  );
}

function LimitsCard({ account: { id, limits } }: { readonly account: Account }) {
  const action = useAction(['accounts']);
  const [failure, setFailure] = useState<unknown>(null);
  const [texts, setTexts] = useState<LimitTexts>({
    requestsPerMinute: String(limits.requestsPerMinute ?? ''),
    concurrentPages: String(limits.concurrentPages ?? ''),
    openUrls: String(limits.openUrls ?? ''),
    storedBytes: String(limits.storedBytes ?? ''),
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (Object.keys(limitProblems(texts)).length > 0) return;
    setFailure(null);
    try {
      await api.patch('/v1/accounts/{id}', { params: { id }, body: { limits: limitsOf(texts) } });
      await action.run(async () => {}, 'The limits are saved.');
    } catch (cause) {
      setFailure(cause);
    }
  };
  return (
    <Card title="Limits">
      <form onSubmit={submit} noValidate>
        <Stack>
          <LimitsFields texts={texts} onChange={setTexts} failure={failure} />
          {failure !== null && <FailureNotice failure={failure} />}
          <Row>
            <Button type="submit" isBusy={action.isBusy}>
              Save limits
            </Button>
          </Row>
        </Stack>
      </form>
    </Card>
  );
}
