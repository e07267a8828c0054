import type { UseQueryResult } from '@tanstack/react-query';
import type { Data, Page } from '../../api/types.ts';

/** What the views of a page are given. */
export interface PageViewProps {
  readonly jobId: string;
  readonly url: string;
  readonly why: UseQueryResult<Data<'explainJobUrl'>>;
  /** Null: the job stored no page for the URL. */
  readonly page: UseQueryResult<Page | null>;
  /** The number of the page in the job; undefined until it is known. */
  readonly number: string | undefined;
}
