/** Characters that take two columns of a terminal: East Asian wide and full-width forms, and pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** Accents and joiners, which are drawn onto the character before them. */
const ZERO = /\p{Mn}|\p{Me}|[\u200b-\u200f\u2060]/u;
const ONE_EACH = /^[\x20-\x7e]*$/;
const CUT = '…';

const widthOfCharacter = (character: string): number =>
  ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;

/** Columns of a terminal that the text takes. */
export function textWidth(text: string): number {
  if (ONE_EACH.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** The text with spaces behind it, so that it takes so many columns. */
export const padText = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - textWidth(text)));

/** The text, or as much of its beginning as fits, with an ellipsis in place of the rest. */
export function cutText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let cut = '';
  let used = 1;
  for (const character of text) {
    used += widthOfCharacter(character);
    if (used > width) break;
    cut += character;
  }
  return cut.trimEnd() + CUT;
}

/** The text in lines of at most so many columns, broken between words; a longer word is broken anywhere. */
export function wrapText(text: string, width: number): string[] {
  if (textWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  const end = (): void => {
    lines.push(line);
    line = '';
  };
  for (const word of text.split(/ +/)) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > width) end();
    if (line !== '') line += ' ';
    for (const character of word) {
      if (textWidth(line) + widthOfCharacter(character) > width) end();
      line += character;
    }
  }
  if (line !== '') end();
  return lines;
}
