/** A wallet's webhooks at the marketplace: endpoints, secrets, and what was sent to them. */
import { PROCEDURES, type ProcedureInput, type ProcedureName, type ProcedureOutput } from '../wire/procedures.ts';
import { ask, askOnce, openSession, type Service } from './service.ts';
import type { Signer } from './signer.ts';

type WebhookProcedure = Exclude<Extract<ProcedureName, `webhooks.${string}`>, 'webhooks.list'>;

export async function listWebhooks(service: Service, wallet: Signer) {
  const session = await openSession(service, wallet);
  return (await ask(service, () => session.call('webhooks.list'))).endpoints;
}

/** Runs a procedure of webhooks for this wallet. A change is not repeated if its answer is lost. */
export async function manageWebhook<Name extends WebhookProcedure>(
  service: Service,
  wallet: Signer,
  name: Name,
  input: ProcedureInput<Name>,
): Promise<ProcedureOutput<Name>> {
  const { call } = await openSession(service, wallet);
  const run = () => (call as (name: Name, input: ProcedureInput<Name>) => Promise<ProcedureOutput<Name>>)(name, input);
  return PROCEDURES[name].kind === 'query' ? ask(service, run) : askOnce(service, run);
}
