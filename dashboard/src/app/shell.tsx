import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { useEffect, useState } from 'react';
import { IconButton } from '../kit/button.tsx';
import { cx } from '../kit/class-names.ts';
import { AccountMenu } from './account-menu.tsx';
import { CommandPalette } from './command-palette.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { visibleSections } from './navigation.ts';
import { NotificationBell } from './notification-bell.tsx';
import { useSession } from './session-context.ts';
import styles from './shell.module.css';

/** The frame of every page: menu, top bar, and the page itself. */
export function Shell() {
  const { pathname } = useLocation();
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  const [isPaletteOpen, setIsPaletteOpen] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes whenever another page is opened
  useEffect(() => setIsMenuOpen(false), [pathname]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setIsPaletteOpen((open) => !open);
      } else if (event.key === 'Escape') setIsMenuOpen(false);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <header className={styles.topbar}>
        <IconButton
          icon={MenuIcon}
          label="Menu"
          className={styles.menuButton}
          aria-expanded={isMenuOpen}
          aria-controls="menu"
          onClick={() => setIsMenuOpen(!isMenuOpen)}
        />
        <Link to="/" className={styles.brand}>
          <img src="/icon.svg" alt="" width={22} height={22} />
          Scrapifie
        </Link>
        <button type="button" className={styles.paletteButton} onClick={() => setIsPaletteOpen(true)}>
          <Search size={15} aria-hidden />
          <span>Go to or run…</span>
          <kbd>Ctrl K</kbd>
        </button>
        <div className={styles.topActions}>
          <NotificationBell />
          <AccountMenu />
        </div>
      </header>
      <Sidebar isOpen={isMenuOpen} />
      {isMenuOpen && (
        <button
          type="button"
          className={styles.shade}
          aria-label="Close the menu"
          onClick={() => setIsMenuOpen(false)}
        />
      )}
      <main id="main" className={styles.main} tabIndex={-1}>
        <ConnectionBanner />
        <Outlet />
      </main>
      {/* Part of the first load: letters that are typed right after the keys that open it are meant for it. */}
      {isPaletteOpen && <CommandPalette onClose={() => setIsPaletteOpen(false)} />}
    </div>
  );
}

function Sidebar({ isOpen }: { readonly isOpen: boolean }) {
  const session = useSession();
  return (
    <nav id="menu" className={cx(styles.sidebar, isOpen && styles.open)} aria-label="Main">
      {visibleSections(session).map(({ label, entries }) => (
        <div key={label ?? 'main'} className={styles.section}>
          {label !== null && <div className={styles.sectionLabel}>{label}</div>}
          <ul>
            {entries.map(({ to, label: name, icon: Icon }) => (
              <li key={to}>
                <Link to={to} className={styles.entry} activeOptions={{ exact: to === '/' }}>
                  <Icon size={17} aria-hidden />
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
