/** Whose turn the reading of a page takes. */
export interface ReadTurn {
  readonly accountId: string;
  /** Pages of one job wait in one line. */
  readonly line: string | number;
}

/** The part of a queue that one account, or one job of it, waits in. */
interface Lane {
  /** Time that threads have spent on its pages, as far as it decides who is next. */
  spentMs: number;
  /** What a page has taken lately; null before the first was read. */
  paceMs: number | null;
  /** Pages that threads have in hand. */
  inHand: number;
  waiting: number;
}

interface Line<Page> extends Lane {
  readonly pages: Page[];
}

interface Account<Page> extends Lane {
  readonly lines: Map<string | number, Line<Page>>;
}

/** How many pages of an account or a line may be in hand before it is known what one takes. */
const MOST_UNKNOWN = 4;
/** The newest page counts this much in the pace of its line. */
const NEWEST_SHARE = 0.3;
/** Accounts, and lines of each, that are remembered with their pace while they have no pages. */
const MOST_IDLE = 256;

/**
 * Pages that wait to be read. Next is the account whose pages have taken threads the least time, and of it the job for which
 * that holds: so an account with pages that take seconds each has a thread as long as others, and not as often. An account
 * that comes back after a pause begins where the others are, and cannot save up time.
 */
export class ReadQueue<Page> {
  readonly #accounts = new Map<string, Account<Page>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** `isAgain` puts a page before all others of its line: a thread was lost that had it in hand. */
  add(page: Page, { accountId, line: name }: ReadTurn, isAgain = false): void {
    const account = activeLane(this.#accounts, accountId, () => ({ ...NEW_LANE, lines: new Map() }));
    const line = activeLane(account.lines, name, () => ({ ...NEW_LANE, pages: [] }));
    if (isAgain) line.pages.unshift(page);
    else line.pages.push(page);
    for (const lane of [account, line]) lane.waiting += 1;
    this.#size += 1;
  }

  /**
   * Takes the page that is next among those that `mayRead` admits by the time that it is expected to take, which is 0 while
   * no page of its account was read. Returns null when there is none.
   */
  take(
    mayRead: (expectedMs: number) => boolean,
  ): { readonly page: Page; readonly expectedMs: number } | null {
    for (const account of inOrder(this.#accounts)) {
      if (isUnknown(account)) continue;
      for (const line of inOrder(account.lines)) {
        const expectedMs = line.paceMs ?? account.paceMs ?? 0;
        if (isUnknown(line) || !mayRead(expectedMs)) continue;
        const [page] = line.pages.splice(0, 1) as [Page];
        for (const lane of [account, line]) {
          lane.waiting -= 1;
          lane.inHand += 1;
        }
        this.#size -= 1;
        return { page, expectedMs };
      }
    }
    return null;
  }

  /** A page that was taken has had this much time of a thread; null: it is added again, and counts then. */
  done({ accountId, line: name }: ReadTurn, ms: number | null): void {
    const account = this.#accounts.get(accountId);
    const line = account?.lines.get(name);
    if (account === undefined || line === undefined) return;
    for (const lane of [account, line]) {
      lane.inHand -= 1;
      if (ms === null) continue;
      lane.spentMs += ms;
      lane.paceMs = lane.paceMs === null ? ms : lane.paceMs + (ms - lane.paceMs) * NEWEST_SHARE;
    }
    forgetIdle(account.lines);
    forgetIdle(this.#accounts);
  }

  /** Empties the queue, and returns the pages that waited. */
  clear(): Page[] {
    const pages = [...this.#accounts.values()].flatMap(({ lines }) =>
      [...lines.values()].flatMap((line) => line.pages),
    );
    this.#accounts.clear();
    this.#size = 0;
    return pages;
  }
}

const NEW_LANE: Readonly<Lane> = { spentMs: 0, paceMs: null, inHand: 0, waiting: 0 };

const isIdle = ({ inHand, waiting }: Lane): boolean => inHand === 0 && waiting === 0;

const isUnknown = ({ paceMs, inHand }: Lane): boolean => paceMs === null && inHand >= MOST_UNKNOWN;

/** A lane that was idle begins with the time of the one that is next. */
function activeLane<Key, Value extends Lane>(lanes: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = lanes.get(key);
  if (known !== undefined && !isIdle(known)) return known;
  const lane = known ?? make();
  let least = Number.POSITIVE_INFINITY;
  for (const other of lanes.values()) if (!isIdle(other)) least = Math.min(least, other.spentMs);
  if (Number.isFinite(least)) lane.spentMs = Math.max(lane.spentMs, least);
  // The lanes stand in the order in which they were used last.
  lanes.delete(key);
  lanes.set(key, lane);
  return lane;
}

function forgetIdle(lanes: Map<unknown, Lane>): void {
  if (lanes.size <= MOST_IDLE) return;
  for (const [key, lane] of lanes) {
    if (lanes.size <= MOST_IDLE) return;
    if (isIdle(lane)) lanes.delete(key);
  }
}

/** Lanes with pages that wait, the one with the least time first. */
function* inOrder<Value extends Lane>(lanes: ReadonlyMap<unknown, Value>): Generator<Value> {
  const waiting: Value[] = [];
  for (const lane of lanes.values()) if (lane.waiting > 0) waiting.push(lane);
  if (waiting.length > 1) waiting.sort((a, b) => a.spentMs - b.spentMs);
  yield* waiting;
}
