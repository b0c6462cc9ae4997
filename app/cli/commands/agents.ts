/** `agents`: what is on offer. */
import { Command } from 'commander';
import type { CommonOptions } from '../config.ts';
import { printResult, printTable } from '../output.ts';
import { type Address, serviceOf, toAddress, toCount, withMarketplace } from './options.ts';

export function agentsCommands(): Command {
  const group = new Command('agents').description('look at the agents on offer');

  withMarketplace(group.command('list'))
    .description('show active agents')
    .option('--tags <tags>', 'only those with all of these tags, separated by commas')
    .option('--limit <n>', 'how many', toCount(100), 20)
    .action(async (options: CommonOptions & { tags?: string; limit: number }) => {
      const { ask, restClient } = await import('../../sdk/wallet/service.ts');
      const service = serviceOf(options);
      const { tags, limit } = options;
      const page = await ask(service, () => restClient(service).listAgents({ limit, ...(tags && { tags }) }));
      const columns = ['agent_id', 'name', 'price_per_call_usdc', 'total_executions', 'tags'] as const;
      printTable(page.agents, [...columns], options.json);
    });

  withMarketplace(group.command('show'))
    .description('show one agent')
    .argument('<agent_id>', 'the agent', toAddress)
    .action(async (agent: Address, options: CommonOptions) => {
      const { ask, restClient } = await import('../../sdk/wallet/service.ts');
      const service = serviceOf(options);
      printResult(await ask(service, () => restClient(service).getAgent(agent)), options.json);
    });
  return group;
}
