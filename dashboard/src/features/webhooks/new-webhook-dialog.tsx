import { useState } from 'react';
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from '../../api/choices.ts';
import { api } from '../../api/client.ts';
import { Checkbox, Field, Select, TextInput } from '../../kit/field.tsx';
import { FormDialog, SecretDialog, useSubmit } from '../../kit/form-dialog.tsx';
import styles from './webhooks.module.css';

export function NewWebhookDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState<(typeof WEBHOOK_FORMATS)[number]>('json');
  const [events, setEvents] = useState<ReadonlySet<string>>(
    new Set(['job.completed', 'job.partially_completed', 'job.failed']),
  );
  const [secret, setSecret] = useState<string | null>(null);
  const submit = useSubmit({
    refresh: ['webhooks'],
    check: () => ({
      url:
        url.trim() === '' &&
        (format === 'email' ? 'Enter an e-mail address.' : 'Enter the URL of the receiver.'),
      events: events.size === 0 && 'Choose at least one event.',
    }),
    async send() {
      const made = await api.post('/v1/webhooks', {
        body: { url: url.trim(), format, events: [...events] },
        idempotencyKey: crypto.randomUUID(),
      });
      setSecret(made.secret);
    },
  });
  const close = () => {
    setUrl('');
    setSecret(null);
    submit.reset();
    onClose();
  };
  const toggle = (name: string) => {
    const next = new Set(events);
    if (!next.delete(name)) next.add(name);
    setEvents(next);
  };
  if (secret !== null) {
    return (
      <SecretDialog onClose={close} title="Webhook created" secret={secret} label="signing secret">
        <p>Deliveries are signed with this secret. Your program checks the signature with it.</p>
      </SecretDialog>
    );
  }
  return (
    <FormDialog isOpen={isOpen} onClose={close} title="New webhook" action="Create webhook" submit={submit}>
      <Field label="Format">
        <Select value={format} onChange={(event) => setFormat(event.target.value as typeof format)}>
          {WEBHOOK_FORMATS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
      </Field>
      <Field
        label={format === 'email' ? 'E-mail address' : 'URL of the receiver'}
        error={submit.errorOf('url')}
      >
        <TextInput
          value={url}
          placeholder={format === 'email' ? 'name@example.com' : 'https://example.com/hooks/scrapifie'}
          onChange={(event) => setUrl(event.target.value)}
        />
      </Field>
      <fieldset className={styles.events}>
        <legend>Events</legend>
        {WEBHOOK_EVENTS.map(({ value: name, about }) => (
          <Checkbox
            key={name}
            label={<code>{name}</code>}
            hint={about}
            checked={events.has(name)}
            onChange={() => toggle(name)}
          />
        ))}
        {submit.errorOf('events') !== undefined && (
          <p role="alert" className={styles.problem}>
            {submit.errorOf('events')}
          </p>
        )}
      </fieldset>
    </FormDialog>
  );
}
