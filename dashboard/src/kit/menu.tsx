import { Check, type LucideIcon } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';
import { cx } from './class-names.ts';
import styles from './overlay.module.css';

/** A menu that `trigger`, a button, opens. Its entries are `MenuItem`, `MenuSeparator` and `MenuLabel`. */
export function Menu({
  trigger,
  align = 'end',
  onOpen,
  children,
}: {
  readonly trigger: ReactElement;
  readonly align?: 'start' | 'end';
  readonly onOpen?: () => void;
  readonly children: ReactNode;
}) {
  return (
    // Not modal: a page that is hidden from screen readers would still hold elements that take the focus.
    <DropdownMenu.Root modal={false} onOpenChange={(isOpen) => isOpen && onOpen?.()}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={styles.menu} align={align} sideOffset={5} collisionPadding={8}>
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export function MenuItem({
  icon: Icon,
  isDangerous = false,
  isDisabled = false,
  onSelect,
  children,
}: {
  readonly icon?: LucideIcon;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}) {
  return (
    <DropdownMenu.Item
      className={cx(styles.item, isDangerous && styles.dangerous)}
      disabled={isDisabled}
      onSelect={onSelect}
    >
      {Icon && <Icon size={16} aria-hidden />}
      {children}
    </DropdownMenu.Item>
  );
}

/** An entry that is on or off; the menu stays open. */
export function MenuCheckItem({
  isChecked,
  isDisabled = false,
  onToggle,
  children,
}: {
  readonly isChecked: boolean;
  readonly isDisabled?: boolean;
  readonly onToggle: () => void;
  readonly children: ReactNode;
}) {
  return (
    <DropdownMenu.CheckboxItem
      className={styles.item}
      checked={isChecked}
      disabled={isDisabled}
      onCheckedChange={onToggle}
      onSelect={(event) => event.preventDefault()}
    >
      <Check size={16} aria-hidden className={isChecked ? undefined : styles.unchecked} />
      {children}
    </DropdownMenu.CheckboxItem>
  );
}

export const MenuSeparator = () => <DropdownMenu.Separator className={styles.separator} />;
export const MenuLabel = ({ children }: { readonly children: ReactNode }) => (
  <DropdownMenu.Label className={styles.menuLabel}>{children}</DropdownMenu.Label>
);
