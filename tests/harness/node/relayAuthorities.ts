/** Replaces the relay authorities of a marketplace without a delay, in one transaction. */
import type { Connection, Keypair, PublicKey } from '@solana/web3.js';
import {
  applyChange,
  findConfig,
  proposeChange,
  relayAuthoritiesOf,
  removeRelayAuthority,
} from '../../../app/sdk/program/program.ts';
import { readAccount, readClock } from '../../../app/sdk/wallet/connection.ts';
import { sendTransaction } from '../../../app/sdk/wallet/send.ts';
import { keypairSigner } from '../../../app/sdk/wallet/signer.ts';
import { until } from '../edge/until.ts';

/** Adds the missing ones of `wanted` and removes all others. */
export async function replaceRelayAuthorities(connection: Connection, admin: Keypair, wanted: PublicKey[]) {
  const config = await readAccount(connection, 'Config', findConfig(), 'there is no config');
  const present = relayAuthoritiesOf(config);
  const isIn = (keys: PublicKey[]) => (key: PublicKey) => keys.some((one) => one.equals(key));
  const added = wanted.filter((key) => !isIn(present)(key));
  const removed = present.filter((key) => !isIn(wanted)(key));
  // An earlier removal has cancelled all changes of its second.
  if (added.length > 0) {
    await until('changes can be proposed', async () => (await readClock(connection)) > config.changesValidFrom);
  }
  const { publicKey } = admin;
  const change = { changeId: BigInt(Date.now()), rentSponsor: publicKey };
  const add = [
    proposeChange({ admin: publicKey, payer: publicKey, ...change, addedRelayAuthorities: added }),
    applyChange(change),
  ];
  const remove = removed.map((relayAuthority) => removeRelayAuthority({ authority: publicKey, relayAuthority }));
  await sendTransaction(connection, [...(added.length > 0 ? add : []), ...remove], keypairSigner(admin));
}
