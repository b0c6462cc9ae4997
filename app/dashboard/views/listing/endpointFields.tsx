/** The endpoint of calls, and the facts about the sender for the creator's firewall and server. */
import { useQuery } from '@tanstack/react-query';
import { CardHead } from '../../parts/heads.tsx';
import { Card, Facts, Input, Note } from '../../parts/ui.tsx';
import { Copy, Id } from '../../parts/values.tsx';
import { BASE_URL, configQuery } from '../../service.ts';
import type { FieldsProps } from './detailsFields.tsx';

/** URL of the keys that the marketplace signs its calls with. */
const KEY_DIRECTORY = `${BASE_URL}/.well-known/http-message-signatures-directory`;

export function EndpointFields({ draft, errors, onChange }: FieldsProps) {
  const { data: config } = useQuery(configQuery);
  return (
    <div className="grid gap-8">
      <div className="grid gap-3">
        <Input
          label="Endpoint"
          type="url"
          inputMode="url"
          spellCheck={false}
          autoComplete="off"
          placeholder="https://agent.example.com/execute"
          hint="The URL that calls are posted to, ending in /execute. It is never shown to callers."
          value={draft.endpoint}
          error={errors.endpoint ?? null}
          onChange={({ target }) => onChange({ endpoint: target.value.trim() })}
        />
        {draft.endpoint.startsWith('http://') && (
          <Note tone="warn">Except on a local network, the endpoint must be https with a public address.</Note>
        )}
      </div>
      <section className="grid gap-3" aria-label="Who calls you">
        <CardHead
          as="h3"
          title="Who calls you"
          about="The marketplace signs every call. Configure your server with this directory of keys, so that it accepts only signed calls. Nobody can then use your agent without paying."
        />
        <Card>
          <Facts
            rows={[
              [
                'Directory of call-signing keys',
                <span key="keys" className="inline-flex items-start gap-1">
                  <code className="font-mono text-[0.8125rem] break-all">{KEY_DIRECTORY}</code>
                  <Copy bare text={KEY_DIRECTORY} what="the directory’s address" />
                </span>,
              ],
              [
                'Calls come from',
                config?.egress_ips.length ? (
                  <ul key="ips" className="grid gap-1">
                    {config.egress_ips.map((ip) => (
                      <li key={ip}>
                        <Id value={ip} full />
                      </li>
                    ))}
                  </ul>
                ) : (
                  'No fixed addresses on this network: check the signature.'
                ),
              ],
            ]}
          />
        </Card>
      </section>
    </div>
  );
}
