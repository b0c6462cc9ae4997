/** The TypeScript client's checks of quotes before payment, over a table that it shares with the Python client. */
import { expect } from 'chai';
import { checkQuote, type Purchase, QuoteRefusedError } from '../../app/sdk/client/x402.ts';
import table from './quotes.json' with { type: 'json' };

interface Case {
  change: Record<string, unknown>;
  purchase?: Partial<Record<string, unknown>>;
  field?: string;
}

/** The quote with some fields changed. */
function changed(change: Case['change']): object {
  const quote: Record<string, unknown> = structuredClone(table.quote);
  for (const [path, value] of Object.entries(change)) {
    const [name, inner] = path.split('.') as [string, string?];
    const object = inner === undefined ? quote : (quote[name] as Record<string, unknown>);
    if (value === 'absent') delete object[inner ?? name];
    else object[inner ?? name] = value;
  }
  return quote;
}

/** Converts the call from Python's names, which the table uses. */
function purchaseOf(change: Case['purchase'] = {}): Purchase {
  const call = { ...table.purchase, ...change };
  const { agent_id: agentId, max_cost_usdc: maxCostUsdc, ...rest } = call;
  const { timeout_seconds: timeoutSeconds } = change as { timeout_seconds?: number };
  return { ...rest, agentId, maxCostUsdc, timeoutSeconds } as Purchase;
}

const nameOf = ({ change, purchase = {} }: Case): string => JSON.stringify({ ...change, ...purchase });

describe('clients/quotes', () => {
  it('accepts a quote whose address follows from the purchase, and returns the amount to pay', () => {
    const { serviceFee, timeoutSeconds, listingVersion, ...checked } = checkQuote(table.quote, purchaseOf());
    const amounts = { amount: `${checked.amount}`, price: `${checked.price}`, service_fee: `${serviceFee}` };
    const named = { timeout_seconds: timeoutSeconds, listing_version: listingVersion };
    expect({ deposit: checked.deposit, ...amounts, ...named }).to.deep.equal(table.checked);
  });

  for (const one of table.accepted as Case[]) {
    it(`accepts the quote also with ${nameOf(one)}`, () => {
      const { payTo } = changed(one.change) as { payTo: string };
      expect(checkQuote(changed(one.change), purchaseOf(one.purchase)).deposit).to.equal(payTo);
    });
  }

  for (const one of table.refused as Case[]) {
    it(`names ${one.field} in its refusal of the quote with ${nameOf(one)}`, () => {
      let refusal: unknown;
      try {
        checkQuote(changed(one.change), purchaseOf(one.purchase));
      } catch (error) {
        refusal = error;
      }
      expect(refusal).to.be.instanceOf(QuoteRefusedError).and.include({ field: one.field });
    });
  }

  it('refuses a value that is not a quote', () => {
    for (const value of [null, [], 'exact', 7]) {
      expect(() => checkQuote(value, purchaseOf())).to.throw(QuoteRefusedError);
    }
  });
});
