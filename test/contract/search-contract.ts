import fc from 'fast-check';
import { expect } from 'vitest';
import type { AccountId, JobId } from '../../src/core/model/ids.ts';
import { packRecord } from '../../src/core/model/page-record.ts';
import { wordsOf } from '../../src/core/model/search-words.ts';
import {
  parseSearch,
  type SearchablePage,
  type SearchIndex,
  type SearchTerm,
} from '../../src/core/ports/search-store.ts';
import { type Claim, contract, type Open } from './contract.ts';

const ACCOUNT = 'one' as AccountId;
const JOB = 'job-1' as JobId;

interface Given {
  readonly url?: string;
  readonly title?: string | null;
  readonly text?: string;
  readonly at?: number;
  readonly jobId?: JobId;
  readonly accountId?: AccountId;
  readonly isPrivate?: boolean;
  readonly outcome?: 'ok' | 'blocked';
}

let lastSeq = 0;

function page({ url, title = null, text = '', at = 1, outcome = 'ok', ...owner }: Given): SearchablePage {
  lastSeq += 1;
  return {
    accountId: ACCOUNT,
    jobId: JOB,
    isPrivate: false,
    ...owner,
    pageSeq: lastSeq,
    url: url ?? `https://a.test/${lastSeq}`,
    title,
    fetchedAt: at,
    record: packRecord({ metadata: null, links: [], outcome, searchText: text }),
    body: null,
  };
}

interface Asked {
  readonly hasPrivate?: boolean;
  readonly accountId?: AccountId;
  readonly host?: string;
  readonly jobId?: JobId;
  readonly offset?: number;
  readonly limit?: number;
}

async function find(index: SearchIndex, q: string, asked: Asked = {}): Promise<number[]> {
  const hits = await index.find({
    accountId: ACCOUNT,
    hasPrivate: true,
    words: parseSearch(q),
    offset: 0,
    limit: 100,
    ...asked,
  });
  return hits.map(({ pageSeq }) => pageSeq);
}

/** Puts pages and returns their numbers. */
async function put(index: SearchIndex, ...given: readonly Given[]): Promise<number[]> {
  const pages = given.map(page);
  const seqs = pages.map(({ pageSeq }) => pageSeq);
  await index.put(pages);
  return seqs;
}

const sorted = (seqs: readonly number[]) => [...seqs].sort((a, b) => a - b);

/** What every full-text index must hold. `open` gives an empty one. */
export function searchContract(name: string, open: Open<SearchIndex>): void {
  contract<SearchIndex>(`search index: ${name}`, open, [], (holds) => {
    declare(holds);
  });
}

function declare(holds: Claim<SearchIndex>): void {
  holds('finds pages that have all words, whatever their case and accents', async (index) => {
    const [both, one] = await put(
      index,
      { title: 'Wärmepumpe', text: 'Préis und Größe der PUMPE' },
      { text: 'Preis allein' },
    );
    expect(await find(index, 'preis')).toEqual(expect.arrayContaining([both, one]));
    expect(await find(index, 'PREIS grosse')).toEqual([both]);
    expect(await find(index, 'warmepumpe')).toEqual([both]);
    expect(await find(index, 'missing')).toEqual([]);
  });

  holds('phrases, beginnings, exclusions, alternatives and titles', async (index) => {
    const [a, b, c] = await put(
      index,
      { title: 'Heat pumps', text: 'a heat pump for the house' },
      { title: 'Boilers', text: 'pump the heat out of a boiler' },
      { title: 'Heat', text: "heat-pump: don't mix node.js and C++" },
    );
    expect(sorted(await find(index, '"heat pump"'))).toEqual([a, c]);
    expect(sorted(await find(index, 'heat-pump'))).toEqual([a, c]);
    expect(sorted(await find(index, 'boil*'))).toEqual([b]);
    expect(sorted(await find(index, 'heat -boiler'))).toEqual([a, c]);
    expect(sorted(await find(index, 'heat -"heat pump"'))).toEqual([b]);
    expect(sorted(await find(index, 'house OR boiler'))).toEqual([a, b]);
    expect(sorted(await find(index, 'title:heat'))).toEqual([a, c]);
    expect(sorted(await find(index, 'title:"heat pumps"'))).toEqual([a]);
    expect(sorted(await find(index, 'title:boil*'))).toEqual([b]);
    expect(await find(index, "don't node.js")).toEqual([c]);
    // The end of the title and the beginning of the text are no phrase.
    expect(await find(index, '"pumps a"')).toEqual([]);
  });

  holds('text without spaces between words is found by every part of it', async (index) => {
    const [japanese, korean, thai] = await put(
      index,
      { text: '東京都の天気は晴れです。カタカナ' },
      { text: '한국어 검색을 지원합니다' },
      { text: 'ภาษาไทยไม่มีช่องว่าง' },
    );
    for (const q of ['東京', '京都', '天気', '晴', '東', 'です', 'ｶﾀｶﾅ', 'カタカナ', '東京都']) {
      expect(await find(index, q), q).toEqual([japanese]);
    }
    expect(await find(index, '검색')).toEqual([korean]);
    expect(await find(index, 'ไทย')).toEqual([thai]);
    expect(await find(index, '京東')).toEqual([]);
  });

  holds('a word in the title counts more than words in the text', async (index) => {
    const filler = Array.from({ length: 200 }, (_, n) => `word${n}`).join(' ');
    const [text, title] = await put(
      index,
      { title: 'Other', text: `solar solar solar ${filler}` },
      { title: 'Solar power', text: filler },
    );
    expect(await find(index, 'solar')).toEqual([title, text]);
  });

  holds('keeps the newest content of each URL of an account', async (index) => {
    const url = 'https://a.test/page';
    const [, newer] = await put(index, { url, text: 'first', at: 1 }, { url, text: 'second', at: 3 });
    await put(index, { url, text: 'late', at: 2 });
    expect(await find(index, 'first')).toEqual([]);
    expect(await find(index, 'late')).toEqual([]);
    expect(await find(index, 'second')).toEqual([newer]);
    // The same content, seen again: the entry leads to the page that is newer.
    const [same] = await put(index, { url, text: 'second', at: 4 });
    expect(await find(index, 'second')).toEqual([same]);
  });

  holds('the private and the public content of a URL do not hide each other', async (index) => {
    const url = 'https://a.test/account';
    const [open, secret] = await put(
      index,
      { url, text: 'common welcome', at: 1 },
      { url, text: 'common balance', at: 2, isPrivate: true },
    );
    expect(sorted(await find(index, 'common'))).toEqual([open, secret]);
    expect(await find(index, 'common', { hasPrivate: false })).toEqual([open]);
    expect(await find(index, 'balance', { hasPrivate: false })).toEqual([]);
    // Each of them gives way to newer content of its own kind.
    const [newer] = await put(index, { url, text: 'common hello', at: 3 });
    expect(sorted(await find(index, 'common'))).toEqual([secret, newer]);
    expect(await find(index, 'balance')).toEqual([secret]);
    expect(await find(index, 'welcome')).toEqual([]);
    // Private pages take no places of those that may be shown.
    await put(index, ...Array.from({ length: 5 }, () => ({ text: 'common', isPrivate: true })));
    expect(await find(index, 'common', { hasPrivate: false, limit: 2 })).toEqual([newer]);
  });

  holds('putting pages again changes nothing', async (index) => {
    const pages = ['alpha', 'beta', 'gamma'].map((text) => page({ text }));
    const copies = () => pages.map((each) => ({ ...each, record: each.record.slice() }));
    await index.put(copies());
    await index.put(copies());
    await index.put([]);
    for (const [n, text] of ['alpha', 'beta', 'gamma'].entries()) {
      expect(await find(index, text)).toEqual([pages[n]?.pageSeq]);
    }
  });

  holds('accounts, hosts and jobs are kept apart', async (index) => {
    const other = 'two' as AccountId;
    const [own, theirs, port, second] = await put(
      index,
      { url: 'https://a.test/x', text: 'common' },
      { url: 'https://a.test/x', text: 'common', accountId: other },
      { url: 'https://a.test:8080/x', text: 'common' },
      { url: 'https://b.test/x', text: 'common', jobId: 'job-2' as JobId },
    );
    expect(sorted(await find(index, 'common'))).toEqual([own, port, second]);
    expect(await find(index, 'common', { accountId: other })).toEqual([theirs]);
    expect(await find(index, 'common', { accountId: "two' OR '1" as AccountId })).toEqual([]);
    expect(await find(index, 'common', { host: 'a.test' })).toEqual([own]);
    expect(await find(index, 'common', { host: 'a.test:8080' })).toEqual([port]);
    expect(await find(index, 'common', { host: "a.test'|'common" })).toEqual([]);
    expect(await find(index, 'common', { jobId: 'job-2' as JobId })).toEqual([second]);
    // Names of accounts, hosts and jobs are no words.
    for (const q of ['one', 'a:one', 'job', 'h:a.test', 'two']) expect(await find(index, q)).toEqual([]);
  });

  holds('hits come in steps, each once', async (index) => {
    const seqs = await put(index, ...Array.from({ length: 25 }, (_, n) => ({ text: `common ${n}` })));
    const steps: number[] = [];
    for (let offset = 0; offset < 30; offset += 10) {
      steps.push(...(await find(index, 'common', { offset, limit: 10 })));
    }
    expect(sorted(steps)).toEqual(seqs);
  });

  holds('pages without content are left out', async (index) => {
    await put(index, { text: 'blocked words', outcome: 'blocked' }, { text: '', title: null });
    await index.put([{ ...page({}), record: new Uint8Array([1, 2, 3]) }]);
    expect(await find(index, 'blocked')).toEqual([]);
    expect(await index.listJobs({ after: null, limit: 10 })).toEqual([]);
  });

  holds('entries of a job are removed, all or up to a page', async (index) => {
    const second = 'job-2' as JobId;
    const [a, b, c] = await put(
      index,
      { text: 'common' },
      { text: 'common' },
      { text: 'common', jobId: second },
    );
    expect(await index.listJobs({ after: null, limit: 1 })).toEqual([JOB]);
    expect(await index.listJobs({ after: JOB, limit: 10 })).toEqual([second]);
    expect(await index.remove({ jobId: JOB, before: b ?? 0, limit: 10 })).toBe(1);
    expect(sorted(await find(index, 'common'))).toEqual([b, c]);
    expect(await index.remove({ jobId: JOB, before: null, limit: 10 })).toBe(1);
    expect(await index.remove({ jobId: JOB, before: null, limit: 10 })).toBe(0);
    expect(await find(index, 'common')).toEqual([c]);
    expect(a).toBeDefined();
  });

  holds('a rebuild drops what is not put again, also where it hid an older content', async (index) => {
    const url = 'https://a.test/page';
    const older = page({ url, text: 'common older', at: 1 });
    await index.put([{ ...older, record: older.record.slice() }]);
    await put(index, { url, text: 'common newer', at: 2 }, { text: 'common gone' });
    await index.beginRebuild();
    expect(await find(index, 'common')).toHaveLength(2);
    await index.put([older]);
    await index.endRebuild();
    expect(await find(index, 'common')).toEqual([older.pageSeq]);
    expect(await find(index, 'older')).toEqual([older.pageSeq]);
  });

  holds('what was put survives a kill', async (index, opened) => {
    const [seq] = await put(index, { text: 'durable' });
    const again = await opened.reopen?.();
    if (again === undefined) return;
    expect(await find(again.driver, 'durable')).toEqual([seq]);
    await again.close();
  });

  holds('finds the pages that a plain comparison of words finds, for any words', async (index) => {
    const vocabulary = [
      'solar',
      'sol',
      'pump',
      'heat',
      'Größe',
      'e-mail',
      '東京都',
      '2024',
      "l'eau",
      'NOT',
      'AND',
      'a*b',
      '"',
    ];
    const words = fc.array(fc.constantFrom(...vocabulary), { maxLength: 6 }).map((list) => list.join(' '));
    const texts = fc.sample(fc.tuple(words, words), { numRuns: 40, seed: 7 });
    const pages = texts.map(([title, text]) => ({ title, text }));
    const seqs = await put(index, ...pages);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(words, fc.string({ maxLength: 30, unit: 'binary' }), anySearch(vocabulary)),
        async (q) => {
          let query: ReturnType<typeof parseSearch>;
          try {
            query = parseSearch(q);
          } catch {
            return;
          }
          const expected = seqs.filter((_, n) => {
            const { title, text } = pages[n] ?? { title: '', text: '' };
            const has = (term: SearchTerm) =>
              hasTerm(title, term) || (!term.isInTitle && hasTerm(text, term));
            return query.all.every((alternatives) => alternatives.some(has)) && !query.none.some(has);
          });
          expect(sorted(await find(index, q)), q).toEqual(expected);
        },
      ),
      { numRuns: 150 },
    );
  });
}

function anySearch(vocabulary: readonly string[]): fc.Arbitrary<string> {
  const word = fc.constantFrom(...vocabulary);
  const piece = fc.oneof(
    word,
    word.map((each) => `-${each}`),
    word.map((each) => `title:${each}`),
    word.map((each) => `${each.slice(0, 3)}*`),
    fc.tuple(word, word).map(([a, b]) => `"${a} ${b}"`),
    fc.constantFrom('OR', '(', ')', 'NEAR', '*', ':', '"', '&', "'", '\\', '\u0000', '{a}', '^'),
  );
  return fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(' '));
}

function hasTerm(text: string, { words, isPrefix }: SearchTerm): boolean {
  const there = [...wordsOf(text)].map(({ word }) => word);
  return there.some((_, at) =>
    words.every((word, offset) => {
      const found = there[at + offset];
      const isLast = offset === words.length - 1;
      return found !== undefined && (isLast && isPrefix ? found.startsWith(word) : found === word);
    }),
  );
}
