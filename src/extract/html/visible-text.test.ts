import { describe, expect, it } from 'vitest';
import { HtmlScanner } from './scanner.ts';
import { visibleText } from './visible-text.ts';

const textOf = (html: string) => visibleText(new HtmlScanner(), html);

describe('visibleText', () => {
  it('breaks lines at blocks and leaves empty lines around paragraphs', () => {
    expect(textOf('<h1>Head</h1><p>One\n  two</p><p>Three</p><div>a</div><div>b</div>c<br>d')).toBe(
      'Head\n\nOne two\n\nThree\n\na\nb\nc\nd',
    );
  });

  it('gives each list item a line', () => {
    expect(textOf('<p>List<ul><li>one</li> <li>two<ul><li>three</ul></ul>end')).toBe(
      'List\n\none\ntwo\n\nthree\n\nend',
    );
  });

  it('puts tabs between cells and lines between rows', () => {
    expect(
      textOf(
        '<table><tr><th>A</th><th>B</th></tr> <tr><td><p>1</p></td> <td><div>2</div></td></tr><tr><td>3<td>4</table>x',
      ),
    ).toBe('A\tB\n\n1\t2\n3\t4\n\nx');
  });

  it('keeps words together and apart as they are shown', () => {
    expect(textOf('a<b>b</b> c <i> d</i>e&nbsp;&lt;f&gt;')).toBe('ab c de\u00a0<f>');
    expect(textOf('  <p>  x  </p>  ')).toBe('x');
  });

  it('keeps preformatted text', () => {
    expect(textOf('<pre>a\n  b\n</pre><p>c  d</p>')).toBe('a\n  b\n\n\nc d');
  });

  it('leaves out what is not shown', () => {
    expect(
      textOf(`<head><title>T</title><style>s</style></head>a<script>b</script><noscript>c<p>d</noscript><template>e<b>f</b></template>
        <!-- g --><textarea>h</textarea><iframe>i</iframe><svg><title>j</title><style/><text>k</text></svg>`),
    ).toBe('a\nk');
  });

  it('goes on after hidden elements that are never closed', () => {
    expect(textOf('<div><noscript>a</div>b')).toBe('b');
    expect(textOf('a<script>b')).toBe('a');
  });
});
