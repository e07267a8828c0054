import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { problemOf } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Checkbox, Field, Select, TextInput } from '../../kit/field.tsx';
import { Row, Stack } from '../../kit/layout.tsx';
import { SecretOnce } from '../../kit/secret-once.tsx';
import { FailureNotice } from '../../kit/states.tsx';
import styles from './webhooks.module.css';

const FORMATS = ['json', 'slack', 'discord', 'teams', 'ntfy', 'email'] as const;
const EVENTS = [
  ['job.completed', 'A job has ended with all its pages'],
  ['job.partially_completed', 'A job has ended; some pages failed'],
  ['job.failed', 'A job has failed'],
  ['monitor.changed', 'A monitor has found changes'],
  ['monitor.failed', 'A monitor cannot check'],
  ['export.ready', 'An export was written'],
  ['schedule.missed', 'A schedule could not run'],
  ['account.low_credits', 'Credits run low'],
] as const;

export function NewWebhookDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState<(typeof FORMATS)[number]>('json');
  const [events, setEvents] = useState<ReadonlySet<string>>(
    new Set(['job.completed', 'job.partially_completed', 'job.failed']),
  );
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => {
    setUrl('');
    setSecret(null);
    setFailure(null);
    setProblems({});
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const found = {
      ...(url.trim() === '' && {
        url: format === 'email' ? 'Enter an e-mail address.' : 'Enter the URL of the receiver.',
      }),
      ...(events.size === 0 && { events: 'Choose at least one event.' }),
    };
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    setIsBusy(true);
    setFailure(null);
    try {
      const made = await api.post('/v1/webhooks', {
        body: { url: url.trim(), format, events: [...events] },
        idempotencyKey: crypto.randomUUID(),
      });
      setSecret(made.secret);
      await client.invalidateQueries({ queryKey: ['webhooks'] });
    } catch (cause) {
      setFailure(cause);
    } finally {
      setIsBusy(false);
    }
  };
  const toggle = (name: string) => {
    const next = new Set(events);
    if (!next.delete(name)) next.add(name);
    setEvents(next);
  };
  if (secret !== null) {
    return (
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title="Webhook created"
        actions={<Button onClick={close}>Done</Button>}
      >
        <p>Deliveries are signed with this secret. Your program checks the signature with it.</p>
        <SecretOnce secret={secret} label="signing secret" />
      </Dialog>
    );
  }
  return (
    <Dialog isOpen={isOpen} onClose={close} title="New webhook">
      <form onSubmit={submit} noValidate>
        <Stack>
          <Field label="Format">
            <Select value={format} onChange={(event) => setFormat(event.target.value as typeof format)}>
              {FORMATS.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          </Field>
          <Field
            label={format === 'email' ? 'E-mail address' : 'URL of the receiver'}
            error={problems.url ?? problemOf(failure, 'url')}
          >
            <TextInput
              value={url}
              placeholder={format === 'email' ? 'name@example.com' : 'https://example.com/hooks/scrapifie'}
              onChange={(event) => setUrl(event.target.value)}
            />
          </Field>
          <fieldset className={styles.events}>
            <legend>Events</legend>
            {EVENTS.map(([name, about]) => (
              <Checkbox
                key={name}
                label={<code>{name}</code>}
                hint={about}
                checked={events.has(name)}
                onChange={() => toggle(name)}
              />
            ))}
            {problems.events !== undefined && (
              <p role="alert" className={styles.problem}>
                {problems.events}
              </p>
            )}
          </fieldset>
          {failure !== null && <FailureNotice failure={failure} />}
          <Row align="end">
            <Button onClick={close}>Cancel</Button>
            <Button kind="primary" type="submit" isBusy={isBusy}>
              Create webhook
            </Button>
          </Row>
        </Stack>
      </form>
    </Dialog>
  );
}
