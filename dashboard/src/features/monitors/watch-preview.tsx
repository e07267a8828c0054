import { useMutation } from '@tanstack/react-query';
import { Eye } from 'lucide-react';
import { api } from '../../api/client.ts';
import { fullUrl, linesOf } from '../../format/full-url.ts';
import { Button } from '../../kit/button.tsx';
import { CodeBlock } from '../../kit/code-block.tsx';
import { Row, Stack } from '../../kit/layout.tsx';
import { FailureNotice } from '../../kit/states.tsx';
import { bodyOf, type MonitorForm } from './monitor-form.ts';

/** Fetches the first page now and shows the texts and fields that checks would compare. */
export function WatchPreview({ form }: { readonly form: MonitorForm }) {
  const url = linesOf(form.urls).map(fullUrl)[0];
  const preview = useMutation({
    mutationFn: (page: string) => {
      const { watch, ignore } = bodyOf(form);
      return api.post('/v1/monitors/preview', {
        body: { url: page, ...(watch && { watch }), ...(ignore && { ignore }) },
      });
    },
  });
  return (
    <Stack gap="small">
      <Row>
        <Button
          size="small"
          icon={Eye}
          disabled={url === undefined || form.target === 'sitemap'}
          isBusy={preview.isPending}
          onClick={() => url !== undefined && preview.mutate(url)}
        >
          Show what would be compared
        </Button>
      </Row>
      {preview.error !== null && <FailureNotice failure={preview.error} />}
      {preview.data?.texts.map(({ name, text }) => (
        <CodeBlock key={name} label={name} text={text} />
      ))}
      {preview.data && <CodeBlock label="fields" text={JSON.stringify(preview.data.fields, null, 2)} />}
    </Stack>
  );
}
