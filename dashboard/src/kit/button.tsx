import { createLink } from '@tanstack/react-router';
import type { LucideIcon } from 'lucide-react';
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import styles from './button.module.css';
import { cx } from './class-names.ts';
import { Tip } from './tip.tsx';

export type ButtonKind = 'primary' | 'normal' | 'quiet' | 'danger';

interface Looks {
  readonly kind?: ButtonKind;
  readonly size?: 'normal' | 'small';
  readonly icon?: LucideIcon;
  readonly children?: ReactNode;
}

const looksOf = ({ kind = 'normal', size = 'normal' }: Looks, className?: string): string =>
  cx(styles.button, styles[kind], size === 'small' && styles.small, className);

export interface ButtonProps extends Looks, Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  /** Shows that the action is under way, and takes no second click meanwhile. */
  readonly isBusy?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({
  kind,
  size,
  icon: Icon,
  isBusy = false,
  className,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={looksOf({ ...(kind && { kind }), ...(size && { size }) }, className)}
      aria-busy={isBusy || undefined}
      disabled={rest.disabled || isBusy}
    >
      {isBusy ? <span className={styles.spinner} aria-hidden /> : Icon && <Icon size={16} aria-hidden />}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  readonly icon: LucideIcon;
  /** What the button does: read by screen readers, and shown on hover. */
  readonly label: string;
}

export function IconButton({
  icon: Icon,
  label,
  kind = 'quiet',
  size,
  className,
  isBusy,
  ...rest
}: IconButtonProps) {
  return (
    <Tip text={label}>
      <button
        type="button"
        aria-label={label}
        {...rest}
        disabled={rest.disabled || isBusy}
        className={looksOf({ kind, ...(size && { size }) }, cx(styles.iconOnly, className))}
      >
        {isBusy ? <span className={styles.spinner} aria-hidden /> : <Icon size={16} aria-hidden />}
      </button>
    </Tip>
  );
}

function AnchorButton({
  kind,
  size,
  icon: Icon,
  className,
  children,
  ...rest
}: Looks & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'children'> & { ref?: Ref<HTMLAnchorElement> }) {
  return (
    <a {...rest} className={looksOf({ ...(kind && { kind }), ...(size && { size }) }, className)}>
      {Icon && <Icon size={16} aria-hidden />}
      {children}
    </a>
  );
}

/** A link of the router that looks like a button. */
export const LinkButton = createLink(AnchorButton);
/** A link to a file or to another page of the server that looks like a button. */
export const HrefButton = AnchorButton;
