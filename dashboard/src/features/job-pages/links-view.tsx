import { useNavigate } from '@tanstack/react-router';
import { pageHref } from './page-address.ts';
import { PageLinks } from './page-links.tsx';
import type { PageViewProps } from './page-props.ts';

/** Links of the page in both directions; a step in the picture leads to the page of that URL. */
export function LinksView({ jobId, url }: PageViewProps) {
  const navigate = useNavigate();
  return (
    <PageLinks
      jobId={jobId}
      url={url}
      hrefOf={(other) => pageHref(jobId, other)}
      onFocus={(other) =>
        void navigate({ to: '/jobs/$id/url', params: { id: jobId }, search: { u: other, view: 'links' } })
      }
    />
  );
}
