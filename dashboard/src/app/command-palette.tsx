import { useNavigate } from '@tanstack/react-router';
import { Dialog as Radix } from 'radix-ui';
import { type KeyboardEvent, useId, useMemo, useState } from 'react';
import { cx } from '../kit/class-names.ts';
import styles from './command-palette.module.css';
import { useCommands } from './commands.ts';

/** Goes anywhere and runs anything, by typing. */
export function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const navigate = useNavigate();
  const commands = useCommands(typed);
  const list = useId();
  const found = useMemo(() => {
    const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
    const textOf = ({ label, words = '' }: (typeof commands)[number]) => `${label} ${words}`.toLowerCase();
    return commands.filter(
      (command) => command.isAlways || wanted.every((word) => textOf(command).includes(word)),
    );
  }, [commands, typed]);
  const current = Math.min(chosen, Math.max(0, found.length - 1));

  const run = (index: number) => {
    const command = found[index];
    if (command === undefined) return;
    onClose();
    if (command.to !== undefined)
      void navigate({ href: command.to, ...(command.state && { state: command.state }) });
    command.run?.();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen((current + step + found.length) % Math.max(1, found.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(current);
    }
  };

  return (
    <Radix.Root open onOpenChange={(open) => open || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={styles.backdrop} />
        <Radix.Content className={styles.palette} aria-describedby={undefined} onKeyDown={onKeyDown}>
          <Radix.Title className="visually-hidden">Go to or run</Radix.Title>
          <input
            className={styles.input}
            role="combobox"
            aria-expanded
            aria-controls={list}
            aria-activedescendant={found[current] ? `${list}-${current}` : undefined}
            aria-label="Page, job id, URL or command"
            placeholder="Page, job id, URL or command"
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value);
              setChosen(0);
            }}
          />
          <div id={list} role="listbox" aria-label="Commands" className={styles.list}>
            {found.map(({ id, label, icon: Icon, group }, index) => (
              <div
                key={id}
                id={`${list}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === current}
                ref={(element) => void (index === current && element?.scrollIntoView({ block: 'nearest' }))}
                className={cx(styles.option, index === current && styles.current)}
                onClick={() => run(index)}
                onKeyDown={() => {}}
                onMouseMove={() => setChosen(index)}
              >
                <Icon size={16} aria-hidden />
                <span className={styles.label}>{label}</span>
                <span className={styles.group}>{group}</span>
              </div>
            ))}
          </div>
          {found.length === 0 && <p className={styles.none}>Nothing has this name.</p>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
