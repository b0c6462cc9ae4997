/** `webhooks`: manages the endpoints that receive a wallet's events, and lists the deliveries. */
import { Command, InvalidArgumentError } from 'commander';
import { EVENT_TYPES, type EventType } from '../../sdk/wire/choices.ts';
import type { CommonOptions } from '../config.ts';
import { printResult, printTable, report } from '../output.ts';
import { readWallet, serviceOf, toCount, withWallet } from './options.ts';

const SHOWN_BY = 'as `webhooks list` shows it';
const SECRET_NOTICE = 'Keep the secret: it is not shown again. Your server verifies each webhook with it.';

export function webhooksCommands(): Command {
  const group = new Command('webhooks').description(
    'send the events of a wallet to your server, and see what was sent',
  );
  addList(group);
  addCreate(group);
  addUpdate(group);
  addOfEndpoint(group, 'delete', 'remove an endpoint and its delivery log', 'deleteWebhook');
  addOfEndpoint(
    group,
    'rotate',
    'replace the secret of an endpoint; for 24 hours, messages are also signed with the old one',
    'rotateWebhookSecret',
  );
  addOfEndpoint(group, 'test', 'send the event webhook.test to an endpoint', 'testWebhook');
  addDeliveries(group);
  addRedeliver(group);
  return group;
}

function toEvents(text: string): EventType[] {
  const types = text.split(',').map((type) => type.trim());
  const unknown = types.find((type) => !EVENT_TYPES.includes(type as EventType));
  if (unknown === undefined) return types as EventType[];
  throw new InvalidArgumentError(
    `${JSON.stringify(unknown)} is not an event type. The types are ${EVENT_TYPES.join(', ')}.`,
  );
}

function addList(group: Command): void {
  withWallet(group.command('list'))
    .description("show the wallet's endpoints")
    .action(async (options: CommonOptions) => {
      const { readWebhooks } = await import('../../sdk/wallet/webhooks.ts');
      const wallet = await readWallet(options);
      const { endpoints } = await readWebhooks(serviceOf(options), wallet, ({ request }) => request('listWebhooks'));
      printTable(
        endpoints,
        ['endpoint_id', 'url', 'event_types', 'status', 'failing_since', 'created_at'],
        options.json,
      );
    });
}

function addCreate(group: Command): void {
  withWallet(group.command('create'))
    .description('add an endpoint; prints its secret once')
    .argument('<url>', 'https URL of your server; on a local network also http')
    .option('--events <types>', 'only these types, separated by commas (default: all)', toEvents)
    .action(async (url: string, options: CommonOptions & { events?: EventType[] }) => {
      const { changeWebhooks } = await import('../../sdk/wallet/webhooks.ts');
      const body = { url, ...(options.events && { event_types: options.events }) };
      const wallet = await readWallet(options);
      const { endpoint, secret } = await changeWebhooks(serviceOf(options), wallet, ({ request }) =>
        request('createWebhook', { body }),
      );
      report(SECRET_NOTICE);
      printResult({ ...endpoint, secret }, options.json);
    });
}

function addUpdate(group: Command): void {
  withWallet(group.command('update'))
    .description('change an endpoint, or switch it off or on')
    .argument('<endpoint_id>', SHOWN_BY)
    .option('--url <url>', 'new URL')
    .option('--events <types>', 'only these types, separated by commas; "all" for all', (text) =>
      text === 'all' ? [] : toEvents(text),
    )
    .option('--off', 'stop sending events')
    .option('--on', 'resume sending events')
    .action(
      async (
        endpoint_id: string,
        options: CommonOptions & { url?: string; events?: EventType[]; off?: true; on?: true },
      ) => {
        const { Refusal } = await import('../../sdk/wallet/refusal.ts');
        const { changeWebhooks } = await import('../../sdk/wallet/webhooks.ts');
        const { url, events, off, on } = options;
        if (off && on) throw new Refusal('Give --on or --off, not both.');
        const changes = {
          ...(url && { url }),
          ...(events && { event_types: events }),
          ...((on || off) && { enabled: !!on }),
        };
        if (Object.keys(changes).length === 0) throw new Refusal('Name what to change; --help lists it.');
        const wallet = await readWallet(options);
        const changed = await changeWebhooks(serviceOf(options), wallet, ({ request }) =>
          request('updateWebhook', { endpoint_id, body: changes }),
        );
        printResult(changed, options.json);
      },
    );
}

function addOfEndpoint(
  group: Command,
  name: string,
  about: string,
  route: 'deleteWebhook' | 'rotateWebhookSecret' | 'testWebhook',
): void {
  withWallet(group.command(name))
    .description(about)
    .argument('<endpoint_id>', SHOWN_BY)
    .action(async (endpoint_id: string, options: CommonOptions) => {
      const { changeWebhooks } = await import('../../sdk/wallet/webhooks.ts');
      const wallet = await readWallet(options);
      const answer = await changeWebhooks(serviceOf(options), wallet, ({ request }) => request(route, { endpoint_id }));
      if (!('secret' in answer)) return printResult(answer, options.json);
      report(SECRET_NOTICE);
      printResult({ ...answer.endpoint, secret: answer.secret }, options.json);
    });
}

function addDeliveries(group: Command): void {
  withWallet(group.command('deliveries'))
    .description('show what was sent to an endpoint, newest first, with the status of each answer')
    .argument('<endpoint_id>', SHOWN_BY)
    .option('--limit <n>', 'maximum number of deliveries', toCount(100), 20)
    .action(async (endpoint_id: string, options: CommonOptions & { limit: number }) => {
      const { readWebhooks } = await import('../../sdk/wallet/webhooks.ts');
      const { limit } = options;
      const wallet = await readWallet(options);
      const { deliveries } = await readWebhooks(serviceOf(options), wallet, ({ request }) =>
        request('listWebhookDeliveries', { endpoint_id, limit }),
      );
      const columns = [
        'delivery_id',
        'event_id',
        'event_type',
        'status',
        'attempts',
        'http_status',
        'error',
        'attempted_at',
      ];
      printTable(deliveries, columns as (keyof (typeof deliveries)[number])[], options.json);
    });
}

function addRedeliver(group: Command): void {
  withWallet(group.command('redeliver'))
    .description('send the event of a delivery once more')
    .argument('<delivery_id>', 'as `webhooks deliveries` shows it')
    .action(async (delivery_id: string, options: CommonOptions) => {
      const { changeWebhooks } = await import('../../sdk/wallet/webhooks.ts');
      const wallet = await readWallet(options);
      const sent = await changeWebhooks(serviceOf(options), wallet, ({ request }) =>
        request('redeliverWebhook', { delivery_id }),
      );
      printResult(sent, options.json);
    });
}
