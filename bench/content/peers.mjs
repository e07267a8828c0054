// Other programs that find the main content of a page; they are asked for nothing else. JavaScript, because their
// types are only there when the packages of this folder are installed.
import { Readability } from '@mozilla/readability';
import { Defuddle } from 'defuddle/node';
import { JSDOM } from 'jsdom';
import { parseHTML } from 'linkedom';

/** Each answers with the length of what it found. */
export const peers = [
  {
    name: 'defuddle + linkedom',
    async run(html, url) {
      const { document } = parseHTML(html);
      return (await Defuddle(document, url, {})).content.length;
    },
  },
  {
    name: 'readability + jsdom',
    async run(html, url) {
      const { window } = new JSDOM(html, { url });
      const found = new Readability(window.document).parse()?.content?.length ?? 0;
      window.close();
      return found;
    },
  },
];
