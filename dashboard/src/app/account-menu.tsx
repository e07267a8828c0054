import { useQueryClient } from '@tanstack/react-query';
import { CircleUser, LogOut, Monitor, Moon, Sun } from 'lucide-react';
import { signOut } from '../api/session.ts';
import { IconButton } from '../kit/button.tsx';
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../kit/menu.tsx';
import { chooseTheme, useThemeChoice } from '../kit/theme.ts';
import { toast } from '../kit/toasts.tsx';
import { useSession } from './session-context.ts';

export function AccountMenu() {
  const { account, key, version } = useSession();
  const theme = useThemeChoice();
  const client = useQueryClient();
  const leave = async () => {
    try {
      await signOut();
      client.clear();
      location.assign('/sign-in');
    } catch (cause) {
      toast.failed(cause);
    }
  };
  const mark = (choice: string) => (theme === choice ? ' ✓' : '');
  return (
    <Menu trigger={<IconButton icon={CircleUser} label="Account and theme" />}>
      <MenuLabel>
        {account.name}
        {key !== null && ` · key ${key.prefix}…`}
      </MenuLabel>
      <MenuSeparator />
      <MenuItem
        icon={Monitor}
        onSelect={() => chooseTheme('system')}
      >{`Theme of the system${mark('system')}`}</MenuItem>
      <MenuItem icon={Sun} onSelect={() => chooseTheme('light')}>{`Light theme${mark('light')}`}</MenuItem>
      <MenuItem icon={Moon} onSelect={() => chooseTheme('dark')}>{`Dark theme${mark('dark')}`}</MenuItem>
      <MenuSeparator />
      <MenuItem icon={LogOut} onSelect={leave}>
        Sign out
      </MenuItem>
      <MenuLabel>Scrapifie {version}</MenuLabel>
    </Menu>
  );
}
