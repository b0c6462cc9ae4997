import { Connection, Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { forkNode, fundSol, sendAndConfirm } from '../../app/local/network.ts';

const n = await forkNode({ slotTimeMs: 400 });
const c = new Connection(n.rpcUrl, { commitment: 'confirmed', wsEndpoint: n.wsUrl });
const to = Keypair.generate().publicKey;
await fundSol(n.rpcUrl, n.payer.publicKey, 1000e9);
await sendAndConfirm(
  c,
  [SystemProgram.transfer({ fromPubkey: n.payer.publicKey, toPubkey: to, lamports: 5e6 })],
  [n.payer],
);
const sent: string[] = [];
const notif: { s: string; slot: number }[] = [];
c.onLogs(
  to,
  (l, ctx) => {
    notif.push({ s: l.signature, slot: ctx.slot });
  },
  'confirmed',
);
await new Promise((r) => setTimeout(r, 200));
for (let r = 0; r < 4; r++) {
  const bh = await c.getLatestBlockhash('confirmed');
  const txs = [];
  for (let i = 0; i < 20; i++) {
    const t = new Transaction({ feePayer: n.payer.publicKey, ...bh }).add(
      SystemProgram.transfer({ fromPubkey: n.payer.publicKey, toPubkey: to, lamports: 1000 + i + r * 100 }),
    );
    t.sign(n.payer);
    txs.push(t);
  }
  for (const t of txs) {
    sent.push(bs58.encode(t.signature!));
    await c.sendRawTransaction(t.serialize(), { skipPreflight: true });
  }
}
await new Promise((r) => setTimeout(r, 2500));
const all = await c.getSignaturesForAddress(to, {}, 'confirmed');
const order = all
  .map((x) => x.signature)
  .reverse()
  .filter((s) => sent.includes(s));
console.log('n', all.length, 'sent==order', JSON.stringify(order) === JSON.stringify(sent));
console.log('slots', all.map((a) => a.slot).join(' '));
const idx = all.map((a) => sent.indexOf(a.signature));
console.log('idx', idx.join(' '));
console.log('notif', notif.length, notif.map((x) => sent.indexOf(x.s)).join(' '));
for (const lim of [7, 30]) {
  const got: string[] = [];
  let before: string | undefined;
  for (;;) {
    const p = await c.getSignaturesForAddress(to, { before, limit: lim }, 'confirmed');
    if (!p.length) break;
    got.push(...p.map((x) => x.signature));
    before = p.at(-1)!.signature;
    if (got.length > 500) {
      console.log('loop');
      break;
    }
  }
  console.log(
    'limit',
    lim,
    got.length,
    new Set(got).size,
    JSON.stringify(got) === JSON.stringify(all.map((x) => x.signature)),
  );
}
for (const k of [0, 5, 33, 80]) {
  const u = await c.getSignaturesForAddress(to, { until: all[k]!.signature }, 'confirmed');
  console.log(
    'until',
    k,
    u.length,
    JSON.stringify(u.map((x) => x.signature)) === JSON.stringify(all.slice(0, k).map((x) => x.signature)),
  );
}
const b = all[10]!.signature,
  u = all[40]!.signature;
const w = await c.getSignaturesForAddress(to, { before: b, until: u, limit: 12 }, 'confirmed');
console.log(
  'win',
  w.length,
  JSON.stringify(w.map((x) => x.signature)) === JSON.stringify(all.slice(11, 23).map((x) => x.signature)),
);
const un = await c.getSignaturesForAddress(to, { until: bs58.encode(Keypair.generate().secretKey) }, 'confirmed');
console.log('unknown until', un.length);
try {
  const un2 = await c.getSignaturesForAddress(to, { before: bs58.encode(Keypair.generate().secretKey) }, 'confirmed');
  console.log('unknown before', un2.length);
} catch (e) {
  console.log('unknown before err', String(e));
}
await n.stop();
