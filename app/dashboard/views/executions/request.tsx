/** The API's view of a call, for somebody who debugs a program: how to find it again and to read it by code. */
import { Anchor, Away, TextLink } from '../../parts/links.tsx';
import { Facts } from '../../parts/ui.tsx';
import { Code, Id } from '../../parts/values.tsx';
import { BASE_URL } from '../../service.ts';
import { Fold } from '../disputes/fold.tsx';
import type { Execution } from './facts.tsx';

export function Request({ execution: { execution_id, key_id, error } }: { execution: Execution }) {
  const path = `/v1/executions/${execution_id}`;
  return (
    <Fold title="Request" gist={key_id === null ? 'JSON, curl' : 'Key ID, Idempotency-Key, JSON, curl'}>
      <Facts
        rows={[
          key_id !== null && ['Key ID', <Id key="key" value={key_id} full />],
          key_id !== null && [
            'Idempotency-Key',
            <span key="repeats">
              Only its hash is kept. Search <TextLink to="/executions">your calls</TextLink> for the key to find this
              one.
            </span>,
          ],
          error && [
            'Error',
            <span key="error">
              <code className="font-mono text-[0.8125rem]">{error.code}</code>{' '}
              <Anchor href={`/docs#error-${error.code}`}>Its HTTP status and remedy</Anchor>
            </span>,
          ],
          [
            'JSON',
            // The session's cookie is enough to read it.
            <Away key="json" href={path} className="break-all">
              GET {path}
            </Away>,
          ],
        ]}
      />
      <Code
        text={`curl -s '${BASE_URL}${path}' \\\n  -H "Authorization: Bearer $MARKETPLACE_API_KEY"`}
        label="Reading this call with curl"
      />
    </Fold>
  );
}
