import {
  Activity,
  Bell,
  BookOpen,
  CalendarClock,
  CircleGauge,
  Database,
  FlaskConical,
  Globe,
  House,
  KeyRound,
  ListTree,
  LogIn,
  type LucideIcon,
  Network,
  Search,
  Server,
  Users,
  Webhook,
} from 'lucide-react';
import { EXPORT_FORMATS } from '../api/choices.ts';
import type { SignedIn } from '../api/session.ts';

const EXPORT_WORDS = ['download', ...EXPORT_FORMATS.map(({ value }) => value)].join(' ');

export interface Destination {
  readonly to: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** More words that find it in the command palette. */
  readonly words?: string;
  readonly isAdminOnly?: boolean;
}

export interface Section {
  readonly label: string | null;
  readonly entries: readonly Destination[];
}

/** The pages of the dashboard, in the order of the menu. */
export const SECTIONS: readonly Section[] = [
  {
    label: null,
    entries: [
      { to: '/', label: 'Home', icon: House, words: 'overview start health' },
      { to: '/playground', label: 'Playground', icon: FlaskConical, words: 'scrape page try extract' },
      { to: '/jobs', label: 'Jobs', icon: ListTree, words: 'crawl batch sitemap results' },
    ],
  },
  {
    label: 'Over time',
    entries: [
      { to: '/monitors', label: 'Monitors', icon: Bell, words: 'changes watch alerts' },
      { to: '/schedules', label: 'Schedules', icon: CalendarClock, words: 'cron calendar recurring' },
      { to: '/webhooks', label: 'Webhooks', icon: Webhook, words: 'deliveries notify' },
    ],
  },
  {
    label: 'Data',
    entries: [
      { to: '/search', label: 'Search', icon: Search, words: 'full text stored pages' },
      { to: '/query', label: 'Query', icon: Database, words: 'sql lake table chart' },
      { to: '/exports', label: 'Exports', icon: BookOpen, words: EXPORT_WORDS },
    ],
  },
  {
    label: 'Network',
    entries: [
      {
        to: '/domains',
        label: 'Domains',
        icon: Globe,
        words: 'robots politeness policy hosts opt-out breaker',
      },
      { to: '/proxies', label: 'Proxies', icon: Network, words: 'health bans' },
      { to: '/sessions', label: 'Sessions', icon: LogIn, words: 'login cookies credentials' },
    ],
  },
  {
    label: 'Account',
    entries: [
      { to: '/usage', label: 'Usage', icon: CircleGauge, words: 'credits cost' },
      { to: '/keys', label: 'Keys', icon: KeyRound, words: 'api key rotate' },
      { to: '/accounts', label: 'Accounts', icon: Users, words: 'tenants limits', isAdminOnly: true },
      { to: '/audit', label: 'Audit log', icon: Activity, words: 'consent history' },
      {
        to: '/system',
        label: 'System',
        icon: Server,
        words: 'queues doctor log settings version',
        isAdminOnly: true,
      },
    ],
  },
];

export const visibleSections = ({ isAdmin }: SignedIn): readonly Section[] =>
  SECTIONS.map(({ label, entries }) => ({
    label,
    entries: entries.filter((entry) => isAdmin || !entry.isAdminOnly),
  })).filter(({ entries }) => entries.length > 0);
