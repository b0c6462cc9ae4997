/** A creator's actions besides editing: pause, resume, top up, delist, and get the collateral back. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OwnListing } from '../../../sdk/wire/procedures.ts';
import { parseUsdc } from '../../../sdk/wire/usdc.ts';
import { useChainClock } from '../../parts/chainClock.ts';
import { CardHead } from '../../parts/heads.tsx';
import { read } from '../../parts/reading.ts';
import { SignButton } from '../../parts/sign.tsx';
import { Card, Facts, Input, Note } from '../../parts/ui.tsx';
import { formatAmount, formatSpan, formatUnits, Id, Time } from '../../parts/values.tsx';
import { configQuery } from '../../service.ts';
import { SLASH_MULTIPLE } from '../../wallet/programTerms.ts';
import { heldCollateral, isAtMinimum, missingCollateral, tierOf } from './own.ts';
import { TopUp } from './tabLink.tsx';

interface ActionProps {
  listing: OwnListing;
}

const nameOf = ({ name }: OwnListing): string => name ?? 'this agent';

/** Pauses an active agent, resumes a paused one. */
export function PauseButton({ listing }: ActionProps) {
  const { data: config } = useQuery(configQuery);
  const isActive = listing.status === 'active';
  const status = isActive ? 'paused' : 'active';
  const missing = isActive ? 0 : missingCollateral(listing, config);
  const resume = missing > 0 ? `Deposit ${formatAmount(missing)} and resume` : 'Resume';
  return (
    <SignButton
      button={isActive ? 'Pause' : 'Resume'}
      title={isActive ? `Pause ${nameOf(listing)}?` : `Resume ${nameOf(listing)}?`}
      about={
        isActive
          ? 'It accepts no new calls until you resume it. Calls in progress end normally and are paid; its collateral stays.'
          : missing > 0
            ? `Its collateral is too low for its price: it needs ${formatAmount(missing)} more. Your wallet signs the deposit first, then the resumption.`
            : 'Callers can call it again at once.'
      }
      disabled={!isActive && !config}
      doing={isActive ? 'Pausing the agent' : 'Resuming the agent'}
      spends={{ usdc: parseUsdc(missing) }}
      confirm={isActive ? 'Pause' : resume}
      work={async ({ marketplace, wallet, PublicKey, changeStatus, topUp, say }) => {
        const agentId = new PublicKey(listing.agent_id);
        if (missing > 0) {
          say(`Adding ${formatAmount(missing)} of collateral`);
          await topUp(marketplace, { wallet, agentId, amount: parseUsdc(missing) });
          say('Resuming the agent');
        }
        return changeStatus(marketplace, { wallet, agentId, status });
      }}
      done={() => [isActive ? 'Paused' : 'Resumed', `${nameOf(listing)} shows the new status in a moment.`]}
    />
  );
}

/** Explains why an agent with too little collateral is paused, and how to resume it. */
export function LowCollateral({ listing }: ActionProps) {
  const { data: config } = useQuery(configQuery);
  const missing = missingCollateral(listing, config);
  if (listing.status !== 'paused' || missing === 0) return null;
  const { slashed_usdc } = listing.collateral;
  const taken = slashed_usdc > 0 ? `Upheld disputes took ${formatAmount(slashed_usdc)} of its collateral. ` : '';
  return (
    <Note tone="warn" title="Paused: its collateral is too low">
      <p className="mb-3">
        {taken}It holds {formatAmount(heldCollateral(listing))}, and a price of {formatAmount(listing.price_usdc)} needs{' '}
        {formatAmount(missing)} more. Top up, then resume it.
      </p>
      <TopUpButton listing={listing} proposed={missing} />
    </Note>
  );
}

/** For an agent that any award pauses. */
export function AtMinimum({ listing }: ActionProps) {
  const { data: config } = useQuery(configQuery);
  if (listing.status !== 'active' || !isAtMinimum(listing, config)) return null;
  return (
    <Note>
      Its collateral is the minimum for its price: any award pauses the agent. To stay active even after the highest
      award, {SLASH_MULTIPLE} times the price, top up{' '}
      {formatUnits(parseUsdc(listing.price_usdc) * BigInt(SLASH_MULTIPLE))}. <TopUp agentId={listing.agent_id} />
    </Note>
  );
}

export function CollateralCard({ listing }: ActionProps) {
  const { collateral } = listing;
  const { data: config } = useQuery(configQuery);
  const minimum = config && tierOf(String(listing.price_usdc), config)?.deposit_usdc;
  const isDelisted = listing.status === 'delisted';
  return (
    <Card className="grid gap-5">
      <CardHead title="Collateral" about="It backs this agent, and stays in an account of the on-chain program." />
      <Facts
        rows={[
          ['Held', <strong key="held">{formatAmount(heldCollateral(listing))}</strong>],
          !isDelisted && minimum !== undefined && ['Minimum for its price', formatAmount(minimum)],
          ['Deposited', formatAmount(collateral.deposited_usdc)],
          ['Taken by disputes', formatAmount(collateral.slashed_usdc)],
          collateral.forfeited_usdc > 0 && ['Of it kept for other callers', formatAmount(collateral.forfeited_usdc)],
        ]}
      />
      {isDelisted ? <ReturnButton listing={listing} /> : <TopUpButton listing={listing} />}
    </Card>
  );
}

function TopUpButton({ listing, proposed = 0 }: ActionProps & { proposed?: number }) {
  const [amount, setAmount] = useState(proposed > 0 ? String(proposed) : '');
  const typed = read(() => parseUsdc(amount));
  const fault = amount === '' ? null : typed.value === 0n ? 'must be more than 0' : typed.error;
  return (
    <div>
      <SignButton
        button="Top up"
        title="Top up the collateral"
        about="It is added to the collateral, which you can take back after you delist."
        disabled={amount === '' || fault !== null}
        whyNot="Enter an amount first."
        doing={`Adding ${amount} USDC of collateral`}
        spends={amount !== '' && fault === null ? { usdc: parseUsdc(amount) } : undefined}
        confirm={amount !== '' && !fault ? `Deposit ${formatAmount(Number(amount))}` : 'Deposit'}
        work={({ marketplace, wallet, PublicKey, topUp }) =>
          topUp(marketplace, { wallet, agentId: new PublicKey(listing.agent_id), amount: parseUsdc(amount) })
        }
        done={({ amount_usdc }) => ['Collateral added', `${amount_usdc} USDC are held for ${nameOf(listing)} now.`]}
        onDone={() => setAmount('')}
      >
        <Input
          label="Amount, USDC"
          inputMode="decimal"
          autoComplete="off"
          value={amount}
          error={fault}
          onChange={({ target }) => setAmount(target.value.trim())}
        />
      </SignButton>
    </div>
  );
}

function ReturnButton({ listing }: ActionProps) {
  const { collateral, open_disputes, agent_id } = listing;
  const now = useChainClock(!collateral.returned);
  if (collateral.returned) return <Note tone="good">The collateral is returned to your USDC account.</Note>;
  const isDue = now !== undefined && collateral.returnable_at !== null && Date.parse(collateral.returnable_at) <= now;
  return (
    <div className="grid gap-3">
      {!isDue && collateral.returnable_at && (
        <Note>
          Calls that were open when you delisted can still be disputed. The collateral can be returned from{' '}
          <Time at={collateral.returnable_at} /> on.
        </Note>
      )}
      {open_disputes > 0 && <Note tone="warn">The collateral can be returned once the open disputes have ended.</Note>}
      <div>
        <SignButton
          button="Return collateral"
          kind="primary"
          closed={!isDue || open_disputes > 0}
          title="Return the collateral"
          about="The program sends what is left of it to your wallet’s USDC account."
          rows={[
            ['Amount', formatAmount(heldCollateral(listing))],
            ['Agent', <Id key="id" value={agent_id} />],
          ]}
          doing={`Returning ${formatAmount(heldCollateral(listing))} to your USDC account`}
          confirm="Return collateral"
          work={({ marketplace, wallet, PublicKey, sendCollateralBack }) =>
            sendCollateralBack(marketplace, { wallet, agentId: new PublicKey(agent_id) })
          }
          done={({ amount_usdc }) => ['Collateral returned', `${amount_usdc} USDC are in your account.`]}
        />
      </div>
    </div>
  );
}

export function DelistCard({ listing }: ActionProps) {
  const { data: config } = useQuery(configQuery);
  const span = config && formatSpan(config.longest_span_seconds, { units: 3 });
  return (
    <Card className="grid gap-4">
      <CardHead
        title="Delist"
        about={`Removes the agent from the marketplace permanently. Calls in progress end normally and are paid. The collateral can be returned ${span ? `${span} later` : 'when the dispute windows are over'}, once no dispute is open. To stop temporarily, pause it instead.`}
      />
      <div>
        <SignButton
          button="Delist this agent"
          kind="danger"
          title={`Delist ${nameOf(listing)} permanently?`}
          about="This cannot be undone. To offer it again, list it again with another signing key."
          rows={[
            ['From now on', 'No new calls; calls in progress continue'],
            ['Collateral', formatAmount(heldCollateral(listing))],
            ['Can be returned', span ? `${span} from now, once no dispute is open` : 'after the dispute windows'],
          ]}
          doing="Delisting the agent"
          confirm="Delist permanently"
          danger
          work={({ marketplace, wallet, PublicKey, delist }) =>
            delist(marketplace, { wallet, agentId: new PublicKey(listing.agent_id) })
          }
          done={() => ['Delisted', 'Come back here to return the collateral when it is due.']}
        />
      </div>
    </Card>
  );
}
