/** The API's view of a call, for somebody who debugs a program: how to find it again and to read it by code. */
import { Link } from '@tanstack/react-router';
import { Facts } from '../../parts/ui.tsx';
import { Code, Id } from '../../parts/values.tsx';
import { BASE_URL } from '../../service.ts';
import { Fold } from '../disputes/fold.tsx';
import type { Execution } from './facts.tsx';

const LINK = 'text-accent underline';

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
              Only its hash is kept. Search{' '}
              <Link to="/executions" className={LINK}>
                your calls
              </Link>{' '}
              for the key to find this one.
            </span>,
          ],
          error && [
            'Error',
            <span key="error">
              <code className="font-mono text-[0.8125rem]">{error.code}</code>{' '}
              <a href={`/docs#error-${error.code}`} className={LINK}>
                Its HTTP status and remedy
              </a>
            </span>,
          ],
          [
            'JSON',
            // The session's cookie is enough to read it.
            <a key="json" href={path} target="_blank" rel="noreferrer" className={`${LINK} break-all`}>
              GET {path}
            </a>,
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
