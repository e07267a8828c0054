import { Tabs as Radix } from 'radix-ui';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { cx } from './class-names.ts';
import styles from './tabs.module.css';

export interface Tab<T extends string> {
  readonly value: T;
  readonly label: ReactNode;
  readonly content: ReactNode;
}

/** Tabs whose chosen one is the caller's state, so that it can stand in the address of the page. */
export function Tabs<T extends string>({
  label,
  value,
  onChange,
  tabs,
}: {
  readonly label: string;
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly tabs: readonly Tab<T>[];
}) {
  const list = useRef<HTMLDivElement>(null);
  const { before, behind } = useHidden(list, value);
  return (
    <Radix.Root value={value} onValueChange={(next) => onChange(next as T)} className={styles.root}>
      <Radix.List
        ref={list}
        className={cx(styles.list, before && styles.before, behind && styles.behind)}
        aria-label={label}
      >
        {tabs.map((tab) => (
          <Radix.Trigger key={tab.value} value={tab.value} className={styles.tab}>
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.value} value={tab.value} className={styles.content}>
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}

/** On which sides a row has more than is in sight; its edge fades out there. The chosen tab is kept in sight. */
function useHidden(row: { readonly current: HTMLElement | null }, value: string) {
  const [hidden, setHidden] = useState({ before: false, behind: false });
  useEffect(() => {
    const element = row.current;
    if (element === null) return;
    const look = () => {
      const { scrollLeft, clientWidth, scrollWidth } = element;
      const next = { before: scrollLeft > 1, behind: scrollLeft + clientWidth < scrollWidth - 1 };
      setHidden((old) => (old.before === next.before && old.behind === next.behind ? old : next));
    };
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [row]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another tab is chosen
  useEffect(() => {
    const chosen = row.current?.querySelector<HTMLElement>('[data-state="active"]');
    if (row.current === null || chosen === null || chosen === undefined) return;
    const { offsetLeft, offsetWidth } = chosen;
    const { scrollLeft, clientWidth, offsetLeft: start } = row.current;
    const place = offsetLeft - start;
    if (place < scrollLeft || place + offsetWidth > scrollLeft + clientWidth)
      row.current.scrollLeft = place - (clientWidth - offsetWidth) / 2;
  }, [row, value]);
  return hidden;
}
