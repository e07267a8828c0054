import { expect, it } from 'vitest';
import { savedRequest } from './saved-request.ts';

const body = { url: 'https://a.b/', formats: ['text'], maxAge: '2h', search: true, async: true };
const values = { name: 'n', times: '6h', urls: ' https://a.b/ \n\nhttps://a.b/c\nhttps://a.b/' };

it('a job takes each URL once, and what concerns the job beside the options', () => {
  expect(savedRequest('job', body, values).body).toEqual({
    urls: ['https://a.b/', 'https://a.b/c'],
    options: { formats: ['text'], maxAge: '2h' },
    search: true,
  });
});

it('a schedule of one page is a scrape at the times of a cron line or an interval', () => {
  const one = { ...values, urls: 'https://a.b/' };
  expect(savedRequest('schedule', body, one).body).toMatchObject({
    every: '6h',
    job: { kind: 'scrape', search: true },
  });
  const cron = savedRequest('schedule', body, { ...one, times: '0 4 * * 1' }).body;
  expect(cron).toMatchObject({ cron: '0 4 * * 1' });
});

it('a monitor gets only options that it takes', () => {
  const { body: made } = savedRequest('monitor', body, values);
  expect(made).toMatchObject({ options: { formats: ['text'] }, schedule: { every: '6h' } });
  expect(made).not.toHaveProperty('options.maxAge');
});
