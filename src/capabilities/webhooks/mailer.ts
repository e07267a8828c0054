import type { Notice } from './notice.ts';

/** Sends notices by the SMTP server of the settings. */
export interface Mailer {
  send(mail: Mail): Promise<MailAnswer>;
  close(): void;
}

export interface Mail {
  readonly to: string;
  readonly notice: Notice;
  /** Equal in every attempt: a server that has the message already can tell. */
  readonly id: string;
}

export interface MailAnswer {
  /** Status code of SMTP; null when no answer came. */
  readonly code: number | null;
  readonly answer: string;
  /** Null when the server has accepted the message. */
  readonly error: string | null;
}

export interface MailerOptions {
  /** Address of the server: `smtp://user:password@host:587`, or `smtps://`. */
  readonly url: string;
  readonly from: string;
  readonly timeoutMs: number;
}

export function createMailer({ url, from, timeoutMs }: MailerOptions): Mailer {
  const { hostname } = new URL(url);
  const transports = new Set<Awaited<ReturnType<typeof openTransport>>>();

  return {
    async send({ to, notice: { title, text, link, at }, id }) {
      const transport = await openTransport(url, timeoutMs);
      transports.add(transport);
      // For the whole conversation: a server that answers a byte at a time must not hold it open.
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('TIMEOUT')), timeoutMs);
      });
      try {
        const sent = transport.sendMail({
          from,
          // As an object it is taken as it is, and not read as a list of names and addresses.
          to: { name: '', address: to },
          subject: title,
          text: [text, ...(link === null ? [] : ['', link]), ''].join('\n'),
          date: new Date(at),
          messageId: `<${id}@${hostname}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        const { response } = await Promise.race([sent, late]);
        return { code: codeOf(response), answer: response, error: null };
      } catch (error) {
        const { responseCode, response, code, message } = error as MailError;
        return { code: responseCode ?? null, answer: response ?? '', error: code ?? message };
      } finally {
        clearTimeout(timer);
        transports.delete(transport);
        transport.close();
      }
    },
    close() {
      for (const transport of transports) transport.close();
    },
  };
}

/** Connects to the server and logs in, without sending anything. Throws what the server, or the network, has said. */
export async function checkMailServer({ url, timeoutMs }: Omit<MailerOptions, 'from'>): Promise<void> {
  const transport = await openTransport(url, timeoutMs);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

/** Loaded with the first use: most installations send no e-mail. */
async function openTransport(url: string, timeoutMs: number) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

interface MailError {
  readonly responseCode?: number;
  readonly response?: string;
  readonly code?: string;
  readonly message: string;
}

const codeOf = (response: string) => Number.parseInt(response, 10) || null;
