/** `agents`: the listed agents. */
import { Command } from 'commander';
import type { CommonOptions } from '../config.ts';
import { printResult, printTable } from '../output.ts';
import { type Address, serviceOf, toAddress, toCount, withMarketplace } from './options.ts';

interface ListOptions {
  tags?: string;
  search?: string;
  creator?: Address;
  limit: number;
}

export function agentsCommands(): Command {
  const group = new Command('agents').description('browse the listed agents');

  withMarketplace(group.command('list'))
    .description('show active agents')
    .option('--tags <tags>', 'only agents with all of these tags, separated by commas')
    .option('--search <words>', "only agents with all of these words in name, tagline, tags or creator's name")
    .option('--creator <wallet>', 'only agents of this creator', toAddress)
    .option('--limit <n>', 'maximum number of agents', toCount(100), 20)
    .action(async (options: CommonOptions & ListOptions) => {
      const { ask, clientOf } = await import('../../sdk/wallet/service.ts');
      const service = serviceOf(options);
      const { tags, limit, search, creator } = options;
      const filters = { limit, ...(tags && { tags }), ...(search && { q: search }), ...(creator && { creator }) };
      const page = await ask(service, () => clientOf(service).request('listAgents', filters));
      const columns = ['agent_id', 'name', 'price_per_call_usdc', 'total_executions', 'tags'] as const;
      printTable(page.agents, [...columns], options.json);
    });

  withMarketplace(group.command('show'))
    .description('show one agent')
    .argument('<agent_id>', 'the agent', toAddress)
    .action(async (agent: Address, options: CommonOptions) => {
      const { ask, clientOf } = await import('../../sdk/wallet/service.ts');
      const service = serviceOf(options);
      printResult(await ask(service, () => clientOf(service).request('getAgent', { agent_id: agent })), options.json);
    });
  return group;
}
