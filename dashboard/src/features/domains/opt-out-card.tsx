import { ShieldOff } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useSession } from '../../app/session-context.ts';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Card, KeyValues, Row, Stack } from '../../kit/layout.tsx';
import { Notice } from '../../kit/states.tsx';
import { Time } from '../../kit/time.tsx';
import { useAction } from '../../kit/use-action.ts';
import type { Domain } from './domain-page.tsx';

/** An owner's wish not to be visited, which all accounts obey. */
export function OptOutCard({ domain: { host, optOut } }: { readonly domain: Domain }) {
  const { isAdmin } = useSession();
  const action = useAction(['domains']);
  const [isAdding, setIsAdding] = useState(false);
  const params = { host };
  return (
    <Card title="Opt-out" about="Where the owner of a site has asked not to be visited, no job visits it.">
      {optOut === null ? (
        <Row align="between">
          <span>The owner has not opted out.</span>
          {isAdmin && (
            <Button icon={ShieldOff} onClick={() => setIsAdding(true)}>
              Record an opt-out
            </Button>
          )}
        </Row>
      ) : (
        <Stack gap="small">
          <Notice tone="warn">This host is not visited.</Notice>
          <KeyValues
            entries={[
              ['Since', <Time key="at" at={optOut.at} />],
              ['Reason', optOut.reason],
              ['Contact', optOut.contact ?? undefined],
            ]}
          />
          {isAdmin && (
            <Row>
              <Button
                onClick={() =>
                  action.run(
                    () => api.delete('/v1/domains/{host}/opt-out', { params }),
                    'The opt-out is removed.',
                  )
                }
              >
                Remove the opt-out
              </Button>
            </Row>
          )}
        </Stack>
      )}
      <ConfirmDialog
        isOpen={isAdding}
        onClose={() => setIsAdding(false)}
        title={`Stop visiting ${host}?`}
        about="Jobs of all accounts skip this host from now on, until the opt-out is removed."
        action="Record opt-out"
        typeToConfirm={host}
        onConfirm={async () => {
          await api.post('/v1/domains/{host}/opt-out', {
            params,
            body: { reason: 'Recorded in the dashboard' },
          });
          await action.run(async () => {}, `${host} is not visited any more.`);
        }}
      />
    </Card>
  );
}
