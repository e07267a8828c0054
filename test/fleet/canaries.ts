/** Secrets by where they enter, to be looked for where they must not come out. */
export type Canaries = Readonly<Record<string, string>>;

/** The forms in which a secret can turn up: as it is, in a URL, in JSON, in bytes of a database, in a Basic header. */
function formsOf(secret: string): readonly string[] {
  const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
  forms.push(Buffer.from(secret).toString('hex'));
  // The middle of it: what stands around a secret changes how its ends are encoded.
  for (const offset of [0, 1, 2]) {
    const encoded = Buffer.from('\0'.repeat(offset) + secret).toString('base64');
    forms.push(encoded.slice(4, -4));
  }
  return [...new Set(forms)];
}

/** Which secrets the text holds, each with the words around it, the secret itself left out. */
export function findCanaries(text: string, canaries: Canaries): string[] {
  return Object.entries(canaries).flatMap(([where, secret]) =>
    formsOf(secret).flatMap((form) => {
      const at = text.indexOf(form);
      if (at === -1) return [];
      const around = `${text.slice(Math.max(0, at - 120), at)}<${where}>${text.slice(at + form.length, at + form.length + 60)}`;
      return [around];
    }),
  );
}
