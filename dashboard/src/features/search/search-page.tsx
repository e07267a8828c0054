import { getRouteApi, Link } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { shortUrl } from '../../format/format.ts';
import { HttpStatus } from '../../kit/badge.tsx';
import { Button, LinkButton } from '../../kit/button.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { Field, TextInput } from '../../kit/field.tsx';
import { Card, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { Time } from '../../kit/time.tsx';
import { MarkedText } from './marked-text.tsx';
import styles from './search.module.css';

type Hit = Item<'search'>;
const route = getRouteApi('/signed-in/search');

export function SearchPage() {
  const { q, host } = route.useSearch();
  const navigate = route.useNavigate();
  const [words, setWords] = useState(q ?? '');
  const [site, setSite] = useState(host ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ search: { ...(words && { q: words }), ...(site && { host: site }) } });
  };
  return (
    <>
      <PageHeader title="Search" about="Full text of the pages that crawls with “search” have kept." />
      <Stack>
        <form onSubmit={submit} role="search" className={styles.form}>
          <Field label="Words" isLabelHidden className={styles.words}>
            <TextInput
              type="search"
              placeholder="Words, or “a phrase”"
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
          </Field>
          <Field label="Host" isLabelHidden className={styles.host}>
            <TextInput
              placeholder="Any host"
              value={site}
              onChange={(event) => setSite(event.target.value)}
            />
          </Field>
          <Button kind="primary" type="submit" icon={Search}>
            Search
          </Button>
        </form>
        {q === undefined ? (
          <Card>
            <EmptyState
              icon={Search}
              title="Search what you have crawled"
              actions={<LinkButton to="/jobs/new">New crawl</LinkButton>}
            >
              Crawls that keep their text for search are found here within seconds. Turn it on under “What to
              keep”.
            </EmptyState>
          </Card>
        ) : (
          <Hits q={q} host={host} />
        )}
      </Stack>
    </>
  );
}

function Hits({ q, host }: { readonly q: string; readonly host: string | undefined }) {
  const list = useList<Hit>(['search', q, host ?? null], (cursor, signal) =>
    api.get('/v1/search', {
      query: { q, ...(host && { host }), ...(cursor && { cursor }), limit: 20 },
      signal,
    }),
  );
  return (
    <Card isFlush>
      <ListView
        list={list}
        empty={
          <EmptyState icon={Search} title="No page has these words">
            Try fewer words, or another host. Only pages of crawls with “search” are in the index.
          </EmptyState>
        }
      >
        {(items) => (
          <ul className={styles.hits}>
            {items.map((hit) => (
              <li key={`${hit.jobId} ${hit.url}`} className={styles.hit}>
                <Link to="/jobs/$id" params={{ id: hit.jobId }} className={styles.title}>
                  {hit.title === null ? shortUrl(hit.url) : <MarkedText {...hit.title} />}
                </Link>
                <div className={styles.url}>
                  <ExternalLink url={hit.url} text={shortUrl(hit.url)} />
                </div>
                <p className={styles.snippet}>
                  <MarkedText {...hit.snippet} />
                </p>
                <Row className={styles.facts}>
                  <HttpStatus code={hit.statusCode} />
                  <Time at={hit.fetchedAt} />
                </Row>
              </li>
            ))}
          </ul>
        )}
      </ListView>
    </Card>
  );
}
