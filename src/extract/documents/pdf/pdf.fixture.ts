import { deflateSync } from 'node:zlib';

export interface PdfPlan {
  /** Lines of each page, first the size of the font, from the top down. */
  readonly pages: readonly (readonly (readonly [size: number, text: string])[])[];
  readonly info?: Readonly<Record<string, string>>;
  /** What the document says about the number of its pages. */
  readonly declaredPages?: number;
  /** How often each page is named. */
  readonly copies?: number;
  readonly isCompressed?: boolean;
  /** A link on the first page. */
  readonly link?: string;
  /** Stands in the trailer: `/Encrypt …`. */
  readonly trailer?: string;
  /** Takes the place of the content of the first page. */
  readonly content?: Buffer;
  readonly contentFilter?: string;
}

const escaped = (text: string): string => text.replace(/[\\()]/g, '\\$&');

/** Writes a small PDF by hand: one font, text from the top down, a table of where the objects are. */
export function makePdf(plan: PdfPlan): Uint8Array {
  const objects: Buffer[] = [];
  const add = (text: string | Buffer): number => objects.push(Buffer.from(text));
  add('<< /Type /Catalog /Pages 2 0 R /Lang (en-GB) >>');
  add(''); // the pages, once their numbers are known
  const font = add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  const kids = plan.pages.map((lines, index) => {
    const written = contentOf(lines);
    const raw = index === 0 ? (plan.content ?? written) : written;
    const isCompressed = plan.isCompressed === true && plan.content === undefined;
    const bytes = isCompressed ? deflateSync(raw) : raw;
    const named = index === 0 ? plan.contentFilter : undefined;
    const filter = named ?? (isCompressed ? '/Filter /FlateDecode' : '');
    const content = add(
      Buffer.concat([
        Buffer.from(`<< /Length ${bytes.length} ${filter} >>\nstream\n`),
        bytes,
        Buffer.from('\nendstream'),
      ]),
    );
    const annotation =
      index === 0 && plan.link !== undefined
        ? add(
            `<< /Type /Annot /Subtype /Link /Rect [0 0 100 100] /A << /S /URI /URI (${escaped(plan.link)}) >> >>`,
          )
        : null;
    const annotations = annotation === null ? '' : `/Annots [${annotation} 0 R]`;
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${content} 0 R ` +
        `/Resources << /Font << /F1 ${font} 0 R >> >> ${annotations} >>`,
    );
  });
  const named = kids.flatMap((kid) => new Array<string>(plan.copies ?? 1).fill(`${kid} 0 R`));
  const count = plan.declaredPages ?? named.length;
  objects[1] = Buffer.from(`<< /Type /Pages /Count ${count} /Kids [${named.join(' ')}] >>`);
  const entries = Object.entries(plan.info ?? {}).map(([name, value]) => `/${name} (${escaped(value)})`);
  const info = entries.length === 0 ? null : add(`<< ${entries.join(' ')} >>`);
  return assemble(objects, info, plan.trailer ?? '');
}

function contentOf(lines: PdfPlan['pages'][number]): Buffer {
  let y = 740;
  const commands = lines.map(([size, text]) => {
    const command = `BT /F1 ${size} Tf 72 ${y} Td (${escaped(text)}) Tj ET`;
    y -= text === '' ? size * 2 : Math.round(size * 1.2);
    return command;
  });
  return Buffer.from(commands.join('\n'), 'latin1');
}

function assemble(objects: readonly Buffer[], info: number | null, trailer: string): Uint8Array {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  let length = parts[0]?.length ?? 0;
  const offsets: number[] = [];
  const push = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    push(Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]));
  }
  const start = length;
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  push(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`));
  const tellsInfo = info === null ? '' : `/Info ${info} 0 R`;
  push(
    Buffer.from(
      `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${tellsInfo} ${trailer} >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return new Uint8Array(Buffer.concat(parts));
}
