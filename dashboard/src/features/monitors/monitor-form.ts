import type { Body } from '../../api/types.ts';
import { fullUrl, isPageUrl, linesOf } from '../../format/full-url.ts';
import { DEFAULT_TIMING, type Timing, timingBody } from '../../kit/schedule-field.tsx';

export const CHANNELS = ['webhook', 'email', 'slack', 'discord', 'teams', 'ntfy'] as const;
export type Channel = (typeof CHANNELS)[number];

export interface MonitorForm {
  readonly name: string;
  readonly target: 'urls' | 'site' | 'sitemap';
  /** One URL on each line. */
  readonly urls: string;
  readonly timing: Timing;
  readonly watch: 'default' | 'text' | 'markdown' | 'selectors' | 'fields';
  readonly watched: string;
  readonly withScreenshot: boolean;
  readonly ignoreSelectors: string;
  readonly ignorePatterns: string;
  readonly sharePercent: string;
  readonly maxPages: string;
  readonly channel: Channel | 'none';
  readonly address: string;
}

export const emptyForm = (url: string | undefined): MonitorForm => ({
  name: '',
  target: 'urls',
  urls: url ?? '',
  timing: DEFAULT_TIMING,
  watch: 'default',
  watched: '',
  withScreenshot: false,
  ignoreSelectors: '',
  ignorePatterns: '',
  sharePercent: '',
  maxPages: '',
  channel: 'none',
  address: '',
});

/** What is wrong, by the name of the field, in words that say what to do. */
export function problemsOf(form: MonitorForm): Readonly<Partial<Record<keyof MonitorForm, string>>> {
  const urls = linesOf(form.urls);
  const wrong = urls.find((url) => !isPageUrl(url));
  return {
    ...(form.name.trim() === '' && { name: 'Enter a name; messages begin with it.' }),
    ...(urls.length === 0 && { urls: 'Enter the URL to watch, such as https://example.com/pricing.' }),
    ...(wrong !== undefined && { urls: `“${wrong}” is no URL. Begin with http:// or https://.` }),
    ...(urls.length > 1 &&
      form.target !== 'urls' && { urls: 'Enter one URL: a monitor watches one site or sitemap.' }),
    ...((form.watch === 'selectors' || form.watch === 'fields') &&
      linesOf(form.watched).length === 0 && {
        watched:
          form.watch === 'fields' ? 'Enter fields, such as price.' : 'Enter a CSS selector, such as .price.',
      }),
    ...(form.sharePercent !== '' &&
      !(Number(form.sharePercent) > 0 && Number(form.sharePercent) <= 100) && {
        sharePercent: 'Enter a percentage from 0 to 100, or leave it empty.',
      }),
    ...(form.maxPages !== '' &&
      !/^[1-9]\d*$/.test(form.maxPages) && { maxPages: 'Enter a whole number of pages.' }),
    ...(form.channel !== 'none' && form.address.trim() === '' && { address: 'Enter where messages go.' }),
  };
}

function watchOf({ watch, watched, withScreenshot }: MonitorForm) {
  const lines = linesOf(watched);
  return {
    ...(watch === 'text' && { text: true }),
    ...(watch === 'markdown' && { markdown: true }),
    ...(watch === 'selectors' && { selectors: lines }),
    ...(watch === 'fields' && { fields: lines }),
    ...(withScreenshot && { screenshot: true }),
  };
}

/** The request for what was entered. */
export function bodyOf(form: MonitorForm): Body<'createMonitor'> {
  const urls = linesOf(form.urls).map(fullUrl);
  const first = urls[0] ?? '';
  const selectors = linesOf(form.ignoreSelectors);
  const patterns = linesOf(form.ignorePatterns);
  const watch = watchOf(form);
  const address = form.address.trim();
  return {
    name: form.name.trim(),
    ...(form.target === 'urls' ? { urls } : form.target === 'site' ? { site: first } : { sitemap: first }),
    schedule: timingBody(form.timing),
    ...(Object.keys(watch).length > 0 && { watch }),
    ...((selectors.length > 0 || patterns.length > 0) && {
      ignore: { ...(selectors.length > 0 && { selectors }), ...(patterns.length > 0 && { patterns }) },
    }),
    ...(form.sharePercent !== '' && { threshold: { share: Number(form.sharePercent) / 100 } }),
    ...(form.maxPages !== '' && form.target !== 'urls' && { maxPages: Number(form.maxPages) }),
    ...(form.channel !== 'none' && {
      notify: form.channel === 'webhook' ? { webhook: { url: address } } : { [form.channel]: address },
    }),
  } as Body<'createMonitor'>;
}
