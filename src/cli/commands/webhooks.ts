import { Option } from 'commander';
import type {
  ChangedWebhookView,
  DeliveryDetailView,
  DeliveryView,
  WebhookView,
} from '../../capabilities/views/webhook-view.ts';
import { webhookRequestSchema } from '../../capabilities/webhooks/webhook-request.ts';
import { DELIVERY_STATES, type DeliveryState, WEBHOOK_FORMATS } from '../../core/ports/webhook-store.ts';
import {
  type ListFlags,
  limitOption,
  mostOf,
  type SubcommandFlags,
  subcommandsOn,
} from '../backend/subcommands.ts';
import { readSecret } from '../flags/command-inputs.ts';
import { choiceOrPart, wholeNumber } from '../flags/flag-values.ts';
import { FLAGS, given, parseFlags, withAccountFlags } from '../flags/flags.ts';
import { helpBelow } from '../output/help.ts';
import type { Screen } from '../output/screen.ts';
import { details, table } from '../output/table.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface CreateFlags extends SubcommandFlags {
  readonly event: string[];
  readonly format?: string;
  readonly readSecret?: true;
}
interface ChangeFlags extends SubcommandFlags {
  readonly url?: string;
  readonly event?: string[];
  readonly format?: string;
  /** The headers to send; false for `--no-header`, which removes them. */
  readonly header?: Record<string, string> | false;
  readonly enable?: true;
  readonly disable?: true;
}
interface RotateFlags extends SubcommandFlags {
  readonly overlapHours?: number;
  readonly readSecret?: true;
}
interface DeliveriesFlags extends ListFlags {
  readonly state?: DeliveryState;
  readonly event?: string;
}

const FLAG_OF = { url: 'The URL', events: '--event', format: '--format', secret: 'The secret' };

const EXAMPLES = `
Events of jobs are sent to the URL of a webhook, signed, and again when that fails, for up to three days. A running
server does that: what "test" and "redeliver" add to a data folder waits until one works on it. See docs/webhooks.md.

Examples:
  scrapifie webhooks create https://receiver.example/scrapifie --event 'job.*'
  scrapifie webhooks create https://hooks.slack.com/services/… --event job.failed --format slack
  scrapifie webhooks create mailto:me@example.com --event job.failed
  scrapifie webhooks list
  scrapifie webhooks show wh_…
  scrapifie webhooks change wh_… --event 'job.*' --enable
  scrapifie webhooks test wh_…
  scrapifie webhooks rotate wh_…
  scrapifie webhooks delete wh_…
  scrapifie webhooks deliveries wh_… --state failed
  scrapifie webhooks delivery dl_…
  scrapifie webhooks redeliver dl_…`;

const eventOption = () =>
  new Option(
    '--event <type>',
    'what is sent: a type such as job.completed, or a pattern such as job.*; repeatable',
  ).argParser((event: string, sofar: string[] | undefined) => [...(sofar ?? []), event]);
const formatOption = () =>
  new Option('--format <format>', 'what is sent')
    .choices(WEBHOOK_FORMATS)
    .argParser(choiceOrPart(WEBHOOK_FORMATS));
const secretOption = () =>
  new Option('--read-secret', 'read the secret from standard input, or ask for it, instead of making one');
export const define: DefineCommand = (command, shell) => {
  const { add, addOn, addDelete, run } = subcommandsOn(command, shell, {
    name: 'webhooks',
    noun: 'Webhook',
    argument: '<id>',
    withFlags: withAccountFlags,
  });
  const secretOf = (flags: { readonly readSecret?: true }) =>
    flags.readSecret
      ? readSecret('Secret: ', { input: shell.stdin, output: shell.stderr }, false)
      : undefined;
  command.addHelpText('afterAll', helpBelow(EXAMPLES));

  add('list', 'newest first')
    .addOption(limitOption('webhooks'))
    .action((flags: ListFlags) => run(flags, (webhooks) => webhooks.list(mostOf(flags)), listing));
  add('create <url>', 'send events to a URL, or to mailto:address; prints the secret')
    .addOption(eventOption().makeOptionMandatory())
    .addOption(formatOption())
    .addOption(secretOption())
    .action(async (url: string, flags: CreateFlags) => {
      const request = given({
        url,
        events: flags.event,
        format: flags.format,
        secret: await secretOf(flags),
      });
      const wanted = parseFlags(webhookRequestSchema, request, FLAG_OF);
      await run(
        flags,
        (webhooks) => webhooks.create(wanted),
        (_screen, { id, secret }) => `Webhook ${id} is made. Its secret, shown this one time:\n${secret}\n`,
        true,
      );
    });
  addOn('show', 'one webhook', (webhooks, id) => webhooks.get(id), describe);
  add('change <id>', 'change where and what is sent; disable or enable')
    .addOption(new Option('--url <url>', 'where events are sent'))
    .addOption(eventOption())
    .addOption(formatOption())
    .addOption(FLAGS.header())
    .addOption(new Option('--no-header', 'without the headers that it has'))
    .addOption(new Option('--enable', 'send again').conflicts('disable'))
    .addOption(new Option('--disable', 'send nothing more'))
    .action((id: string, flags: ChangeFlags) => {
      const enabled = flags.enable ?? (flags.disable ? false : undefined);
      const { url, event: events, format, header } = flags;
      const headers = header === false ? {} : header;
      return run(
        flags,
        (webhooks) => webhooks.change(id, given({ url, events, format, headers, enabled })),
        describeChange,
      );
    });
  add('rotate <id>', 'make a new secret; the former one stays valid for a time')
    .addOption(
      new Option('--overlap-hours <n>', 'hours for which both are valid (default: 24)').argParser(
        wholeNumber,
      ),
    )
    .addOption(secretOption())
    .action(async (id: string, flags: RotateFlags) => {
      const request = given({ overlapHours: flags.overlapHours, secret: await secretOf(flags) });
      await run(
        flags,
        (webhooks) => webhooks.rotate(id, request),
        (_screen, { secret }) => `The new secret of ${id}, shown this one time:\n${secret}\n`,
      );
    });
  addDelete('delete a webhook with its deliveries', 'id', (webhooks, id) => webhooks.delete(id));
  addOn(
    'test',
    'send a test event',
    (webhooks, id) => webhooks.test(id),
    (_screen, { id }) => `The test is delivery ${id}.\n`,
  );
  add('deliveries <id>', 'what was sent, newest first')
    .addOption(new Option('--state <state>', 'only those in this state').choices(DELIVERY_STATES))
    .addOption(new Option('--event <type>', 'only those of this type of event'))
    .addOption(limitOption('deliveries'))
    .action((id: string, flags: DeliveriesFlags) =>
      run(
        flags,
        (webhooks) =>
          webhooks.deliveries(id, { state: flags.state, event: flags.event, limit: mostOf(flags) }),
        deliveryListing,
      ),
    );
  addOn(
    'delivery',
    'one delivery with its attempts',
    (webhooks, id) => webhooks.delivery(id),
    describeDelivery,
  );
  addOn(
    'redeliver',
    'send the event of a delivery once more',
    (webhooks, id) => webhooks.redeliver(id),
    (_screen, { id }) => `It is sent again as delivery ${id}.\n`,
  );
};

function listing(screen: Screen, views: readonly WebhookView[]): string {
  if (views.length === 0) return 'There are no webhooks.\n';
  return table(screen, [
    ['ID', 'STATE', 'FORMAT', 'EVENTS', 'URL'],
    ...views.map((view) => [view.id, stateOf(view), view.format, view.events.join(' '), view.url]),
  ]);
}

function stateOf({ enabled, disabledReason, failingSince }: WebhookView): string {
  if (!enabled) return disabledReason === 'user' ? 'disabled' : `disabled (${disabledReason})`;
  return failingSince === null ? 'enabled' : 'failing';
}

const describe = (screen: Screen, view: WebhookView) =>
  details(screen, [
    ['id', view.id],
    ['url', view.url],
    ['events', view.events.join(' ')],
    ['format', view.format],
    ['state', stateOf(view)],
    ['failing since', view.failingSince ?? '–'],
    ['disabled', view.disabledAt ?? '–'],
    ['created', view.createdAt],
    ['changed', view.updatedAt],
  ]);

const describeChange = (screen: Screen, view: ChangedWebhookView) =>
  describe(screen, view) +
  (view.secret === undefined
    ? ''
    : `It has another receiver. Its new secret, shown this one time:\n${view.secret}\n`);

function deliveryListing(screen: Screen, views: readonly DeliveryView[]): string {
  if (views.length === 0) return 'There are no deliveries.\n';
  return table(screen, [
    ['ID', 'STATE', 'ATTEMPTS', 'EVENT', 'CREATED', 'JOB'],
    ...views.map(({ id, state, attempts, event, createdAt, jobId }) => [
      id,
      state,
      String(attempts),
      event,
      createdAt,
      jobId ?? '–',
    ]),
  ]);
}

const describeDelivery = (screen: Screen, view: DeliveryDetailView) =>
  details(screen, [
    ['id', view.id],
    ['event', view.event],
    ['job', view.jobId ?? '–'],
    ['state', view.state],
    ['reason', view.reason ?? '–'],
    ['next attempt', view.nextAttemptAt ?? '–'],
    ...view.log.map(({ at, ms, statusCode, error }) => [
      'attempt',
      `${at} ${statusCode ?? 'no answer'} ${ms} ms${error === null ? '' : ` ${error}`}`,
    ]),
  ]);
