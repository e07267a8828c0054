import { Columns3 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Menu, MenuCheckItem, MenuItem, MenuSeparator } from '../../kit/menu.tsx';

/** The chosen columns of a list, which this browser remembers. */
export function useChosenColumns(list: string, defaults: readonly string[]) {
  const key = `scrapifie.columns.${list}`;
  const [chosen, setChosen] = useState<readonly string[]>(() => {
    const kept = localStorage.getItem(key);
    return kept === null || kept === '' ? defaults : kept.split(',');
  });
  const choose = (next: readonly string[] | null) => {
    setChosen(next ?? defaults);
    if (next === null) localStorage.removeItem(key);
    else localStorage.setItem(key, next.join(','));
  };
  return [chosen, choose] as const;
}

export function ColumnChooser({
  columns,
  chosen,
  onChoose,
}: {
  readonly columns: readonly { readonly id: string; readonly name: string }[];
  readonly chosen: readonly string[];
  /** Null: the columns that are shown without a choice. */
  readonly onChoose: (chosen: readonly string[] | null) => void;
}) {
  return (
    <Menu trigger={<Button icon={Columns3}>Columns</Button>}>
      {columns.map(({ id, name }) => {
        const isChosen = chosen.includes(id);
        return (
          <MenuCheckItem
            key={id}
            isChecked={isChosen}
            isDisabled={isChosen && chosen.length === 1}
            onToggle={() => onChoose(isChosen ? chosen.filter((each) => each !== id) : [...chosen, id])}
          >
            {name}
          </MenuCheckItem>
        );
      })}
      <MenuSeparator />
      <MenuItem onSelect={() => onChoose(null)}>Back to the default</MenuItem>
    </Menu>
  );
}
