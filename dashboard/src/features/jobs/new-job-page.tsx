import { getRouteApi } from '@tanstack/react-router';
import * as z from 'zod/mini';
import { api } from '../../api/client.ts';
import { Button } from '../../kit/button.tsx';
import { Field, TextArea, TextInput } from '../../kit/field.tsx';
import { Card, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { FormFailure, useServerForm } from '../../kit/server-form.tsx';

const route = getRouteApi('/signed-in/jobs/new');

const schema = z.object({
  urls: z.string().check(z.minLength(1, 'Enter the URL where the crawl starts.')),
  maxPages: z.string().check(z.regex(/^\d*$/, 'Enter a whole number, or nothing for no limit.')),
});

export function NewJobPage() {
  const { url = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const form = useServerForm({
    schema,
    defaultValues: { urls: url, maxPages: '100' },
    send: async ({ urls, maxPages }) => {
      const body = {
        urls: urls.split(/\s+/).filter(Boolean),
        maxPages: maxPages === '' ? null : Number(maxPages),
      };
      const { id } = await api.post('/v1/crawl', { body });
      await navigate({ to: '/jobs/$id', params: { id }, search: {} });
    },
  });
  return (
    <form onSubmit={form.submit} noValidate>
      <PageHeader title="New crawl" about="Follows the links of a site from the URLs you give." />
      <Card>
        <Stack>
          <Field label="Start URLs" hint="One a line." error={form.errorOf('urls')}>
            <TextArea {...form.register('urls')} />
          </Field>
          <Field label="Pages at most" error={form.errorOf('maxPages')}>
            <TextInput inputMode="numeric" {...form.register('maxPages')} />
          </Field>
          <FormFailure form={form} />
          <Row>
            <Button kind="primary" type="submit" isBusy={form.isBusy}>
              Start crawl
            </Button>
          </Row>
        </Stack>
      </Card>
    </form>
  );
}
