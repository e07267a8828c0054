import { Tooltip } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';
import styles from './overlay.module.css';

/** A short text on hover and on focus. It repeats or completes what is visible; it is never the only place of a fact. */
export function Tip({ text, children }: { readonly text: ReactNode; readonly children: ReactElement }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content className={styles.tip} sideOffset={6} collisionPadding={8}>
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

export const TipProvider = ({ children }: { readonly children: ReactNode }) => (
  <Tooltip.Provider delayDuration={350} skipDelayDuration={150}>
    {children}
  </Tooltip.Provider>
);
