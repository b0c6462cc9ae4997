/** The node that the visitor chooses: its fields, and the fault of its URL. */
import { useQuery } from '@tanstack/react-query';
import { Checkbox, Input } from '../../parts/ui.tsx';
import { configQuery } from '../../service.ts';

/** The URLs that this page's CSP allows. The browser refuses all others silently. */
const MAY_BE_ASKED = /^(https:\/\/[^/]|http:\/\/(127\.0\.0\.1|localhost)(:|\/|$))/;

/** The fault of the URL; null if it is usable. */
export function nodeFault(text: string): string | null {
  if (!URL.canParse(text)) return 'It must be a URL, such as https://api.mainnet-beta.solana.com';
  if (MAY_BE_ASKED.test(text)) return null;
  return 'This page can ask https nodes, and http ones on this computer.';
}

interface NodeFieldsProps {
  node: string;
  fault: string | null;
  onNode(node: string): void;
  isOffline: boolean;
  onOffline(isOffline: boolean): void;
  isChosen: boolean;
  onChosen(isChosen: boolean): void;
}

/** The node to ask. */
export function NodeFields({ node, fault, onNode, isOffline, onOffline, isChosen, onChosen }: NodeFieldsProps) {
  const { data: config } = useQuery(configQuery);
  const isOwn = !isOffline && node === config?.rpc_url;
  // A fault must be seen: with it nothing can be checked.
  const isOpen = isChosen || fault !== null;
  return (
    <details
      className="border-t border-line pt-4 md:col-span-2"
      open={isOpen}
      onToggle={({ currentTarget }) => onChosen(currentTarget.open)}
    >
      <summary className="py-1 text-sm">
        Use another Solana server (node){isOwn && ' than the marketplace’s own'}
      </summary>
      <div className="mt-3 grid gap-4 md:grid-cols-2 md:gap-x-8">
        <Input
          label="Solana node"
          type="url"
          hint="The server from which the chain is read. At first it is the marketplace’s own: for independence, choose another."
          error={fault}
          value={node}
          onChange={(event) => onNode(event.target.value)}
          disabled={isOffline}
          className="font-mono"
          spellCheck={false}
        />
        <Checkbox
          className="md:mt-7"
          label="Use no node"
          hint="Only the hash and the signatures are checked, without a network."
          checked={isOffline}
          onChange={(event) => onOffline(event.target.checked)}
        />
      </div>
    </details>
  );
}
