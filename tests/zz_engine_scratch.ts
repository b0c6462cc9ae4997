import { Keypair, PublicKey } from '@solana/web3.js';
import { getAccount, createApproveInstruction } from '@solana/spl-token';
import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import pino from 'pino';
import nacl from 'tweetnacl';
import { startNode } from './harness/node.ts';
import { createMockUsdc, mintMockUsdc, initializeMarketplace, sendAndConfirm } from '../app/local/network.ts';
import * as P from '../app/sdk/program.ts';
import { hashResult, signResult } from '../app/sdk/receipt.ts';
import { createChain } from '../app/relay/chain.ts';
import { createJournal } from '../app/relay/store.ts';
import { createEngine } from '../app/relay/execution/execute.ts';
import { createCreatorPool } from '../app/relay/execution/dispatch.ts';
import { openDatabase, migrate } from '../indexer/database.ts';
const log = pino({level:'info'});
const t0=Date.now(); const say=(...a:any[])=>console.log(Date.now()-t0,...a);
const slotTimeMs = Number(process.env.SLOT ?? 50);
const node = await startNode({ slotTimeMs });
say('node');
const authority = Keypair.generate(), creator = Keypair.generate(), caller = Keypair.generate(), mintKp = Keypair.generate();
for (const k of [authority, creator, caller]) await node.fundSol(k.publicKey, 100e9);
const conn = node.connection;
const mint = await createMockUsdc(conn, { payer: node.payer, mint: mintKp, mintAuthority: node.payer.publicKey });
const cfg = await initializeMarketplace(conn, { upgradeAuthority: node.payer, payer: node.payer, admin: node.payer.publicKey, relayAuthority: authority.publicKey, usdcMint: mint } as any);
say('config', cfg.feeBps);
const callerAta = await mintMockUsdc(conn, { payer: node.payer, mintAuthority: node.payer, mint, owner: caller.publicKey, amount: 1000_000000n });
const creatorAta = await mintMockUsdc(conn, { payer: node.payer, mintAuthority: node.payer, mint, owner: creator.publicKey, amount: 1000_000000n });
const signing = nacl.sign.keyPair();
const listingId = randomBytes(16); const listing = P.findListing(creator.publicKey, listingId);
const msg = P.registerMessage(listing);
const mh = createHash('sha256').update('x').digest();
await sendAndConfirm(conn, [P.ed25519Instruction({ publicKey: signing.publicKey, message: msg, signature: nacl.sign.detached(msg, signing.secretKey) }),
  P.listAgent({ creator: creator.publicKey, payer: creator.publicKey, listingId, signingKey: new PublicKey(signing.publicKey), source: creatorAta, payout: creatorAta, usdcMint: mint, terms: { price: 250_000n, timeoutSeconds: 60, minTimeoutSeconds: 1, tagMask: 1, metadataHash: mh, metadataUri: '' } })], [creator]);
say('listed');
const keyId = randomBytes(16);
await sendAndConfirm(conn, [P.createGrant({ wallet: caller.publicKey, payer: caller.publicKey, keyId, limits: { perExecutionMax: 10_000000n, periodMax: 1000_000000n, totalMax: 1000_000000n, periodSeconds: 86400, expiresAt: BigInt(Math.floor(Date.now()/1000)+86400) } }),
  P.approveSpender({ wallet: caller.publicKey, usdcMint: mint, amount: 1000_000000n })], [caller]);
say('granted');
let mode = 'ok';
const server = http.createServer((req,res)=>{ let b=''; req.on('data',c=>b+=c); req.on('end',()=>{ const r=JSON.parse(b); if(mode==='500'){res.statusCode=500;return res.end('x');} const result='echo '+r.task; const h=hashResult(result); res.setHeader('content-type','application/json'); res.end(JSON.stringify({execution_id:r.execution_id,status:'completed',result,result_hash:h,signature:signResult(signing.secretKey,h),tokens_used:3})); }); });
await new Promise<void>(r=>server.listen(0,'127.0.0.1',r)); const endpoint=`http://127.0.0.1:${(server.address() as any).port}/execute`;
const dir='/tmp/lead/db'+Date.now(); 
const i = openDatabase<any>(dir+'/ledger.db',{synchronous:'full'}); migrate(i.sqlite, 'migrations/ledger');
const n = openDatabase<any>(dir+'/ledger.db',{synchronous:'normal'});
const journal = createJournal(i.db as any, n.db as any);
const chain = createChain({ rpcUrl: node.rpcUrl, wsUrl: node.wsUrl, authority, log });
const engine = createEngine({ chain, journal, creators: createCreatorPool(), usdcMint: mint, endpointOf: async()=>endpoint, log });
const principal = { wallet: caller.publicKey.toBase58(), keyId: keyId.toString('hex'), keyHash: '' } as any;
const agent = { listing: listing.toBase58(), price: 250_000n, listingVersion: 1, metadataHash: mh.toString('hex') } as any;
const bal = async()=>[(await getAccount(conn,callerAta)).amount,(await getAccount(conn,creatorAta)).amount,(await getAccount(conn,P.findTreasury())).amount];
say('balances', await bal());
for (let k=0;k<Number(process.env.N??5);k++){ const t=performance.now(); const out = await engine.execute(principal, agent, { task:'hi '+k, parameters:{}, async:false, timeoutSeconds:60, maxCost: 1_000000n }); say(out.kind, (performance.now()-t).toFixed(1)); }
say('balances', await bal());
mode='500';
try { await engine.execute(principal, agent, { task:'hi', parameters:{}, async:false, timeoutSeconds:60, maxCost: 1_000000n }); } catch(e:any){ say(e.code, e.message, e.executionId); }
say('balances', await bal());
try { await engine.execute({...principal}, {...agent, listingVersion: 2}, { task:'hi', parameters:{}, async:false, timeoutSeconds:60, maxCost: 1_000000n }); } catch(e:any){ say(e.code, e.message, e.executionId); }
try { await engine.execute({...principal}, {...agent, price: 11_000_000n}, { task:'hi', parameters:{}, async:false, timeoutSeconds:60, maxCost: 100_000000n }); } catch(e:any){ say(e.code, e.message, e.details); }
mode='ok';
const tx = await conn.getSignaturesForAddress(P.PROGRAM_ID, {limit: 20}, 'confirmed');
for (const s of tx.slice(0,6)) { const t = await conn.getTransaction(s.signature,{maxSupportedTransactionVersion:0,commitment:'confirmed'}); console.log(s.slot, s.err, t?.meta?.computeUnitsConsumed, t?.meta?.logMessages?.filter(l=>/consumed|success|fail/.test(l)).join(' | ').slice(0,300)); }
const t=performance.now(); const R = await Promise.allSettled(Array.from({length:16},(_, k)=>engine.execute(principal, agent, { task:'c '+k, parameters:{}, async:false, timeoutSeconds:60, maxCost: 1_000000n }))); say('16 concurrent', (performance.now()-t).toFixed(0), R.map(r=>r.status==='fulfilled'?r.value.kind:r.reason.message).join(','));
say('balances', await bal());
await engine.stop(); await chain.close(); server.close(); await node.stop(); process.exit(0);
