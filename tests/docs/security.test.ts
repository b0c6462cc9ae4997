/** Every figure of SECURITY.md that says how much somebody can take or lose, computed from its sources. */
import { expect } from 'chai';
import { ARCHIVE_SHARE } from '../../app/relay/chain/fees.ts';
import type { Rents } from '../../app/relay/chain/rent.ts';
import { shareOf } from '../../app/relay/ledger/funding.ts';
import { constants, RECORD_SIZE } from '../../app/sdk/program/program.ts';
import { FIRST_SETTINGS } from '../../migrations/deploy.ts';
import { readPage } from './markdown.ts';

const SECURITY = readPage('SECURITY.md').replaceAll(/\s+/g, ' ');
const SIGNATURE = 5_000;
/** Lamports a byte that the page names. */
const PER_BYTE = 5_080;
const rentOf = (bytes: number): number => (128 + bytes) * PER_BYTE;
const RENTS = { empty: rentOf(0), record: rentOf(RECORD_SIZE), escrow: rentOf(165) } satisfies Record<
  keyof Rents,
  number
>;
const CALL = 2 * SIGNATURE + Number(ARCHIVE_SHARE);
const HOUR = 3_600;
const DAY = 24 * HOUR;

const spaced = (number: number): string => number.toLocaleString('en-US');
const percent = (part: number, digits = 2): string => `${Number((100 * part).toFixed(digits))}%`;
/** Up to two digits, as the tables show SOL and USDC. */
const short = (number: number): string => String(Number(number.toPrecision(2)));
const sol = (lamports: number): string => `${Number((lamports / 1e9).toFixed(6))} SOL`;

/** Expects that the page has all these sentences, or parts of them. */
function expectSaid(...sentences: string[]): void {
  for (const sentence of sentences) expect(SECURITY.includes(sentence), `SECURITY.md says: ${sentence}`).to.equal(true);
}

describe('the figures of SECURITY.md', () => {
  const span =
    FIRST_SETTINGS.disputeWindowSeconds + FIRST_SETTINGS.refundGraceSeconds + FIRST_SETTINGS.maxTimeoutSeconds;
  const hours = (seconds: number): string => `${Math.floor(seconds / HOUR)} hours and ${(seconds % HOUR) / 60} minutes`;

  it('for a stolen admin key follow from the multiple of a dispute and the windows', () => {
    const multiple = Number(constants.slashMultiple);
    expectSaid(
      `each up to ${multiple} times its price`,
      `the forfeits, up to ${multiple - 1} times the prices paid`,
      `up to ${multiple} times these prices, at most all of it`,
      `An upheld dispute takes at most ${multiple} times the price`,
      `${hours(span)} is \`longest_span_seconds\``,
      `${FIRST_SETTINGS.disputeWindowSeconds / HOUR} hours of dispute window, ${FIRST_SETTINGS.refundGraceSeconds / 60} minutes of grace, one hour of timeout`,
      `With a delay of 24 hours there are ${hours(span - DAY)} to begin`,
      `another guardian waits ${constants.guardianChangeSeconds / DAY} days longer`,
      `For ${constants.changeSeconds / DAY} days after a change is due`,
      `Lengthen the dispute window up to ${constants.disputeWindowSecondsMax / DAY} days`,
    );
  });

  it('for a stolen relay key follow from the gas of an open and the rent of its record', () => {
    const [usual, most] = [constants.defaultMaxGasLamports, constants.maxGasLamports];
    const share = (gas: number, fees = 0) => (gas - fees) / (gas + RENTS.record);
    const inADay = (gas: number) => percent(1 - (1 - share(gas)) ** 24, 0);
    expectSaid(
      `relay authorities, 1 to ${constants.maxRelayAuthorities}`,
      `(default ${spaced(usual)}, at most ${spaced(most)})`,
      `at most ${percent(share(usual))} of the gas balance an hour (${percent(share(most), 1)} if the wallet allowed ${spaced(most)})`,
      `${spaced(usual)} of the ${spaced(usual + RENTS.record)} lamports that each pair needs`,
      `about ${inADay(usual)} in a day (${inADay(most)})`,
      `the thief gains ${percent(share(usual, SIGNATURE))} an hour (${percent(share(most, SIGNATURE), 1)})`,
      `at most ${Number(constants.maxServiceFee) / 1e6} USDC, to the treasury`,
      `After ${constants.depositSeconds / 60} minutes nothing can be opened from a deposit`,
    );
  });

  it('for an API key follow from the longest grant and what a failed call costs', () => {
    expect(constants.maxGrantSeconds / DAY).to.be.within(365, 366);
    expectSaid('until revoked or expired, at most a year', `cost about ${spaced(CALL)} lamports each`);
  });

  it('for money that cannot move follow from the rents', () => {
    expectSaid(
      `the rent of an empty account, ${spaced(RENTS.empty)} lamports at ${spaced(PER_BYTE)} a byte`,
      `to more than ${((RENTS.record + RENTS.escrow) / RENTS.record).toFixed(2)} times if the sponsor has become a program`,
      `to more than ${(RENTS.escrow / RENTS.empty).toFixed(2)} times if it is empty`,
      `A dispute that nobody decides keeps the collateral of a delisted agent for ${constants.disputeLapseSeconds / DAY} days`,
    );
    expect(constants.unclaimedSeconds).to.equal(HOUR);
  });

  it('for what callers cost the operator are its fees times the wallets', () => {
    const tries = Math.floor((Math.sqrt(1 + 8 * (DAY / 60)) - 1) / 2);
    expectSaid(`a wallet that owes n fees waits n minutes, so it fails ${tries} times`);
    for (const [wallets, spent, lost] of [
      [100, '0.001 SOL', '0.0005 SOL'],
      [10_000, '0.1 SOL', '0.05 SOL'],
    ] as const) {
      expect([sol(wallets * 2 * SIGNATURE), sol(wallets * SIGNATURE)]).to.deep.equal([spent, lost]);
      expectSaid(`| | ${spaced(wallets)} | ${spent} | ${lost} | nobody |`);
      const [day, dayLost] = [sol(wallets * tries * 2 * SIGNATURE), sol(wallets * tries * SIGNATURE)];
      expectSaid(`| | ${spaced(wallets)} | ${day} | ${dayLost} | nobody |`);
    }
    expectSaid(`${spaced(tries * 2 * SIGNATURE)} lamports | ${spaced(tries * SIGNATURE)} lamports | nobody`);
  });

  it('for all that may be borrowed in a day follow from its share, the fee and how soon a record comes back', () => {
    // Ten SOL less twice 0.05 are lent, and return after an hour, ten minutes of waiting and the archive's own time.
    const [minutes, lent] = [71, 9_900_000_000n];
    expectSaid(`until the oldest deposit comes back: at most ${minutes} minutes`);
    const calls = (Number(shareOf(lent)) / RENTS.record) * (DAY / 60 / minutes);
    const fees = (calls * Number(FIRST_SETTINGS.minPrice) * FIRST_SETTINGS.feeBps) / 1e4 / 1e6;
    expectSaid(
      `${short((calls * CALL) / 1e9)} SOL of gas, ${short(fees)} USDC of fees`,
      `${short(calls * 0.005)} USDC of service fees, ${short(fees)} USDC of fees`,
    );
  });
});
