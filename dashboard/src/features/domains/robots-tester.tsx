import { useMutation } from '@tanstack/react-query';
import { Bot } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { problemOf } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import { Badge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { CodeBlock } from '../../kit/code-block.tsx';
import { Field, TextArea, TextInput } from '../../kit/field.tsx';
import { Card, Fold, KeyValues, Row, Stack } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { FailureNotice } from '../../kit/states.tsx';
import { Time } from '../../kit/time.tsx';
import type { Domain } from './domain-page.tsx';

/** Asks the server whether robots.txt allows a URL, by the file that is stored or by one that is pasted. */
export function RobotsTester({ domain: { host, robots } }: { readonly domain: Domain }) {
  const [url, setUrl] = useState(`https://${host}/`);
  const [userAgent, setUserAgent] = useState('');
  const [pasted, setPasted] = useState('');
  const test = useMutation({
    mutationFn: () =>
      api.post('/v1/domains/{host}/robots-test', {
        params: { host },
        body: {
          url: url.trim(),
          ...(userAgent.trim() !== '' && { userAgent: userAgent.trim() }),
          ...(pasted.trim() !== '' && { robotsTxt: pasted }),
        },
      }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    test.mutate();
  };
  return (
    <Card title="robots.txt" about="Is a URL allowed? Test it without sending a request.">
      <Stack>
        <form onSubmit={submit} noValidate>
          <Stack gap="small">
            <Row align="start">
              <Field label="URL" error={problemOf(test.error, 'url')}>
                <TextInput value={url} onChange={(event) => setUrl(event.target.value)} />
              </Field>
              <Field label="User agent" hint="Empty: ours" error={problemOf(test.error, 'userAgent')}>
                <TextInput value={userAgent} onChange={(event) => setUserAgent(event.target.value)} />
              </Field>
            </Row>
            <Fold title="Test another robots.txt">
              <Field label="Text of the file" error={problemOf(test.error, 'robotsTxt')}>
                <TextArea rows={6} value={pasted} onChange={(event) => setPasted(event.target.value)} />
              </Field>
            </Fold>
            <Row>
              <Button type="submit" icon={Bot} isBusy={test.isPending}>
                Test
              </Button>
            </Row>
          </Stack>
        </form>
        {test.error !== null && <FailureNotice failure={test.error} />}
        {test.data && (
          <div role="status">
            <Row>
              <Badge tone={test.data.isAllowed === null ? 'warn' : test.data.isAllowed ? 'good' : 'bad'}>
                {test.data.isAllowed === null ? 'unknown' : test.data.isAllowed ? 'allowed' : 'forbidden'}
              </Badge>
              <span>
                <Sentence text={test.data.message} />
              </span>
            </Row>
            <KeyValues
              entries={[
                [
                  'Rule',
                  test.data.rule === null ? undefined : `${test.data.rule} (line ${test.data.line ?? '?'})`,
                ],
                [
                  'Crawl delay',
                  test.data.crawlDelayMs === null ? undefined : `${test.data.crawlDelayMs / 1000} s`,
                ],
                ['User agent', test.data.userAgent],
              ]}
            />
          </div>
        )}
        {robots.map((file) => (
          <Fold
            key={file.origin}
            title={
              <>
                {`${file.origin}/robots.txt, ${file.status}, fetched `}
                <Time at={file.fetchedAt} />
              </>
            }
          >
            {file.body === '' ? file.reason : <CodeBlock label="robots.txt" text={file.body} />}
          </Fold>
        ))}
      </Stack>
    </Card>
  );
}
