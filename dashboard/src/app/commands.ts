import type { HistoryState } from '@tanstack/react-router';
import {
  Bell,
  CalendarClock,
  FlaskConical,
  Globe,
  ListPlus,
  ListTree,
  type LucideIcon,
  Moon,
  Search,
  Sun,
} from 'lucide-react';
import { fullUrl, isPageUrl } from '../format/full-url.ts';
import { chooseTheme } from '../kit/theme.ts';
import { visibleSections } from './navigation.ts';
import { useSession } from './session-context.ts';

export interface Command {
  readonly id: string;
  readonly label: string;
  readonly icon: LucideIcon;
  readonly group: string;
  readonly words?: string;
  /** A page of the dashboard. */
  readonly to?: string;
  /** What the page is to do when it opens. */
  readonly state?: HistoryState;
  readonly run?: () => void;
  /** Made from what was typed, so it is shown whatever that is. */
  readonly isAlways?: boolean;
}

const JOB_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const ACTIONS: readonly Command[] = [
  {
    id: 'new-crawl',
    label: 'New crawl',
    icon: ListPlus,
    group: 'Action',
    to: '/jobs/new',
    words: 'start site job batch',
  },
  {
    id: 'new-monitor',
    label: 'New monitor',
    icon: Bell,
    group: 'Action',
    to: '/monitors?new=true',
    words: 'watch changes',
  },
  {
    id: 'new-schedule',
    label: 'New schedule',
    icon: CalendarClock,
    group: 'Action',
    to: '/schedules?new=true',
    words: 'cron',
  },
  { id: 'dark', label: 'Dark theme', icon: Moon, group: 'Theme', run: () => chooseTheme('dark') },
  { id: 'light', label: 'Light theme', icon: Sun, group: 'Theme', run: () => chooseTheme('light') },
];

/** The commands for what was typed: pages, actions, and what the text itself allows (a URL, the id of a job). */
export function useCommands(typed: string): readonly Command[] {
  const pages = visibleSections(useSession()).flatMap(({ entries }) =>
    entries.map(
      ({ to, label, icon, words }): Command => ({
        id: to,
        label,
        icon,
        group: 'Page',
        to,
        ...(words && { words }),
      }),
    ),
  );
  const text = typed.trim();
  return [...fromText(text), ...pages, ...ACTIONS, ...searchFor(text)];
}

function fromText(text: string): readonly Command[] {
  if (JOB_ID.test(text)) {
    return [
      {
        id: 'job',
        label: `Open job ${text}`,
        icon: ListTree,
        group: 'Job',
        to: `/jobs/${text}`,
        isAlways: true,
      },
    ];
  }
  if (isPageUrl(text)) {
    const page = fullUrl(text);
    const url = encodeURIComponent(page);
    return [
      {
        id: 'scrape',
        label: `Scrape ${page}`,
        icon: FlaskConical,
        group: 'Playground',
        to: `/playground?url=${url}`,
        state: { run: true },
        isAlways: true,
      },
      {
        id: 'crawl',
        label: `Crawl ${page}`,
        icon: ListPlus,
        group: 'Job',
        to: `/jobs/new?url=${url}`,
        isAlways: true,
      },
      {
        id: 'host',
        label: `How ${new URL(page).host} is treated`,
        icon: Globe,
        group: 'Domain',
        to: `/domains/${encodeURIComponent(new URL(page).host)}`,
        isAlways: true,
      },
    ];
  }
  return [];
}

/** Stands last: a word that names a page or an action leads there first. */
function searchFor(text: string): readonly Command[] {
  if (text.length < 3 || JOB_ID.test(text) || /^https?:/i.test(text)) return [];
  return [
    {
      id: 'search',
      label: `Search stored pages for “${text}”`,
      icon: Search,
      group: 'Search',
      to: `/search?q=${encodeURIComponent(text)}`,
      isAlways: true,
    },
  ];
}
