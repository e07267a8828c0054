import { cost } from './cost.ts';
import { engines } from './engines.ts';
import { fleet } from './fleet.ts';
import { hosts } from './hosts.ts';
import { overview } from './overview.ts';
import type { DashboardSource } from './panels.ts';

export const DASHBOARDS: readonly DashboardSource[] = [overview, hosts, engines, fleet, cost];
