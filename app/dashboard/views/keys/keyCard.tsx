/** One key: what it may spend, its use, and its actions. */
import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { GrantFields } from '../../../sdk/receipt/onChain.ts';
import type { KeySummary } from '../../../sdk/wire/procedures.ts';
import { toUsdc } from '../../../sdk/wire/usdc.ts';
import type { SpendStatement } from '../../../sdk/wire/wire.ts';
import { DotsIcon } from '../../parts/icons.tsx';
import { CellLink } from '../../parts/links.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Badge, Button, Card, cx, Skeleton } from '../../parts/ui.tsx';
import {
  formatAmount,
  formatCount,
  formatLamports,
  formatNumber,
  formatSpan,
  formatUnits,
  Id,
  Time,
} from '../../parts/values.tsx';
import { isLive, leftOf, renewalOf, type SpendLimit, spendableNow, type WalletMoney } from './money.ts';
import { KeyUse } from './use.tsx';
import { type Reach, SCOPES, type SpendLimits, spendWords } from './words.ts';

export type KeyAction = 'rotate' | 'restrict' | 'limits' | 'revoke' | 'revokeOnChain' | 'close';

interface KeyCardProps {
  apiKey: KeySummary;
  /** Undefined while it is read, null if the chain does not answer. */
  money: WalletMoney | undefined | null;
  /** The operator pays the network fees; undefined until that is known. */
  isSponsored: boolean | undefined;
  /** What the wallet's keys paid on the last days; undefined until it is read. */
  spend: SpendStatement | undefined;
  onAct(action: KeyAction): void;
}

/** True if a key can still be used, as far as the marketplace and the chain show. */
export function isUsable({ revoked, expires_at, key_id }: KeySummary, money: WalletMoney | undefined | null): boolean {
  const now = money ? money.now * 1_000 : Date.now();
  if (revoked || (expires_at && Date.parse(expires_at) <= now)) return false;
  return !money || isLive(money.grants.get(key_id), money.now);
}

export function KeyCard({ apiKey, money, isSponsored, spend, onAct }: KeyCardProps) {
  const grant = money?.grants.get(apiKey.key_id);
  const usable = isUsable(apiKey, money);
  const now = grant && money ? nowWords(apiKey, money, isSponsored) : null;
  const hasWords = usable && grant !== undefined;
  const card = useRef<HTMLElement>(null);
  // A call links to the key that paid for it.
  const isLinked = useLocation({ select: ({ hash }) => hash }) === apiKey.key_id;
  useEffect(() => {
    if (isLinked) card.current?.focus();
  }, [isLinked]);
  return (
    <Card ref={card} tabIndex={-1} className="grid gap-5" aria-label={`API key ${apiKey.name}`}>
      <div className="flex flex-wrap items-start justify-between gap-4">
        <div className="min-w-0">
          <h3 className="flex flex-wrap items-center gap-2 font-semibold">
            {apiKey.name}
            <State apiKey={apiKey} usable={usable} />
          </h3>
          <p className="mt-1 flex flex-wrap items-center gap-x-3 text-sm text-faint">
            <span>
              Key ID <Id value={apiKey.key_id} full />
            </span>
            <span>
              Created <Time at={apiKey.created_at} />
            </span>
          </p>
        </div>
        <div className="flex flex-wrap justify-end gap-2">
          {usable && (
            <>
              <Button
                small
                disabled={!money || !grant}
                aria-label={`Change limits of ${apiKey.name}`}
                onClick={() => onAct('limits')}
              >
                Change limits
              </Button>
              <Button
                kind="quiet"
                small
                className="text-bad"
                disabled={!money}
                aria-label={`Revoke ${apiKey.name}`}
                onClick={() => onAct('revoke')}
              >
                Revoke
              </Button>
            </>
          )}
          <Actions apiKey={apiKey} grant={grant} money={money} usable={usable} onAct={onAct} />
        </div>
      </div>
      {hasWords && (
        <div className="grid gap-1 text-sm">
          <SpendWords
            limits={grant}
            reach={{
              agents: apiKey.allowed_agents,
              ips: apiKey.allowed_ips,
              endsAt: apiKey.expires_at ? Date.parse(apiKey.expires_at) : null,
              until: Number(grant.expiresAt) * 1_000,
            }}
          />
          {now !== null && <p className="text-faint tabular-nums">{now}</p>}
        </div>
      )}
      <div className="grid gap-5 text-sm sm:grid-cols-2 lg:auto-cols-fr lg:grid-flow-col lg:grid-cols-none">
        <Fact
          label="Calls, including refunded"
          about={
            apiKey.last_used_at ? (
              <>
                Last request <Time at={apiKey.last_used_at} />
              </>
            ) : (
              'Never used'
            )
          }
        >
          {apiKey.execution_count === 0 ? (
            '0'
          ) : (
            <CellLink to="/executions" search={{ key: apiKey.key_id }}>
              {formatCount(apiKey.execution_count)}
            </CellLink>
          )}
        </Fact>
        <Spend apiKey={apiKey} grant={grant} money={money} />
        {/* The sentence above says it. */}
        {money !== undefined && !hasWords && !apiKey.revoked && apiKey.expires_at && (
          <Fact label={usable ? 'Ends' : 'Ended'}>
            <Time at={apiKey.expires_at} />
          </Fact>
        )}
        {grant && money && !isLive(grant, money.now) && (
          <Fact label="Deposit held" about="You can take it back: “Get the deposit back” in the menu •••">
            {formatLamports(money.grantDeposit)}
          </Fact>
        )}
      </div>
      <KeyUse apiKey={apiKey} spend={spend} />
    </Card>
  );
}

/** What limits the spend, if it is not the limits of the keys. */
export const OTHER_LIMITS: Partial<Record<SpendLimit, string>> = {
  fees: 'the gas balance does not pay the network fees of a call',
  wallet: 'all that is in the wallet',
  allowance: 'all that is left of the allowance',
};

/** What the key can spend now, if its limits leave more; null while a part of it is unknown. */
function nowWords({ key_id, scopes }: KeySummary, money: WalletMoney, isSponsored: boolean | undefined): string | null {
  if (isSponsored === undefined) return null;
  if (!scopes.includes('execute')) return 'Can spend now: nothing, because it may not call agents.';
  const { amount, limit } = spendableNow([key_id], money, isSponsored);
  if (limit === 'fees') return `Can spend now: nothing, because ${OTHER_LIMITS.fees}.`;
  return OTHER_LIMITS[limit] ? `Can spend now: ${formatUnits(amount)}, ${OTHER_LIMITS[limit]}.` : null;
}

function State({ apiKey, usable }: { apiKey: KeySummary; usable: boolean }) {
  if (apiKey.revoked) return <Badge tone="bad">Revoked</Badge>;
  if (!usable) return <Badge>Ended</Badge>;
  return apiKey.scopes.map((scope) => <Badge key={scope}>{SCOPES[scope].label}</Badge>);
}

function Fact(props: { label: string; about?: React.ReactNode; children: React.ReactNode }) {
  return (
    <div className="min-w-0">
      <p className="text-sm text-faint">{props.label}</p>
      <p className="mt-1 tabular-nums">{props.children}</p>
      {props.about && <p className="mt-1 text-sm text-faint">{props.about}</p>}
    </div>
  );
}

/** The key's spend, with its caps for the present period and in total. */
function Spend({ apiKey, grant, money }: Pick<KeyCardProps, 'apiKey' | 'money'> & { grant: GrantFields | undefined }) {
  if (money === undefined) {
    return (
      <>
        <Skeleton className="h-13" />
        <Skeleton className="h-13" />
      </>
    );
  }
  if (!grant || !money) {
    return (
      <Fact label="Spent in total" about={money ? 'It can spend nothing more' : 'The chain does not answer'}>
        {formatAmount(apiKey.total_spent_usdc)}
      </Fact>
    );
  }
  const left = leftOf(grant, money.now);
  return (
    <>
      {grant.periodMax < grant.totalMax && (
        <Meter
          label={`In this period of ${formatSpan(grant.periodSeconds)}`}
          left={left.period}
          most={grant.periodMax}
          about={
            <>
              Renews <Time at={renewalOf(grant, money.now)} />
            </>
          }
        />
      )}
      <Meter label="Total limit" left={left.total} most={grant.totalMax} />
    </>
  );
}

const NEARLY_ALL = 0.9;

function Meter(props: { label: string; left: bigint; most: bigint; about?: React.ReactNode }) {
  const { label, left, most, about } = props;
  const part = 1 - Number(left) / Number(most);
  const [used, all, rest] = [most - left, most, left].map((amount) => formatNumber(toUsdc(amount)));
  const text = `${used} of ${all} USDC used, ${rest} left`;
  return (
    <div className="min-w-0">
      <p className="text-sm text-faint">{label}</p>
      <p className="mt-1 tabular-nums">{text}</p>
      {/* The text above says the same. */}
      <div aria-hidden="true" className="mt-2 h-1.5 overflow-hidden rounded-full bg-line">
        <div
          className={cx('h-full rounded-full', part > 0 && 'min-w-1', part >= NEARLY_ALL ? 'bg-warn' : 'bg-accent')}
          style={{ width: `${part * 100}%` }}
        />
      </div>
      {about && <p className="mt-1.5 text-sm text-faint">{about}</p>}
    </div>
  );
}

interface ActionsProps extends Omit<KeyCardProps, 'spend' | 'isSponsored'> {
  grant: GrantFields | undefined;
  usable: boolean;
}

function Actions({ apiKey, grant, money, usable, onAct }: ActionsProps) {
  const live = !!money && isLive(grant, money.now);
  const actions: [KeyAction, string][] = usable
    ? [
        ['rotate', 'Replace …'],
        ['restrict', 'What it may do …'],
        ['revokeOnChain', 'End without the marketplace …'],
      ]
    : live
      ? [['revokeOnChain', 'End it for good …']]
      : [['close', 'Get the deposit back …']];
  const shown = actions.filter(([action]) => grant !== undefined || action === 'restrict');
  if (shown.length === 0) return null;
  return (
    <Menu small label={`Actions of ${apiKey.name}`} button={<DotsIcon />}>
      {shown.map(([action, label]) => (
        <MenuItem key={action} onSelect={() => onAct(action)}>
          {label}
        </MenuItem>
      ))}
    </Menu>
  );
}

function SpendWords({ limits, reach }: { limits: SpendLimits; reach: Reach }) {
  const { chain, unlimited, service } = spendWords(limits, reach);
  return (
    <>
      <p className="font-medium tabular-nums">
        The chain enforces: {chain} {unlimited}
      </p>
      <p>{service}</p>
    </>
  );
}
