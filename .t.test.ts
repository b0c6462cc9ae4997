import { world, PRICE } from './tests/harness/world.ts';
import * as p from './app/sdk/program.ts';
describe('smoke', () => { it('x', async () => {
 const t=performance.now(); const w = await world(); console.log('world ms', performance.now()-t);
 const e = await w.open(); console.log(await w.read('ExecutionRecord', e.record));
 const o= await w.must(w.settleInstructions(e), [w.relay]); console.log(o.events, o.computeUnits, o.bytes);
 const e2 = await w.openWithGrant(); const r = await w.must([w.refundInstruction(e2)],[w.relay]); console.log(r.events, r.computeUnits);
 const t2=performance.now(); await world(); console.log('world ms', performance.now()-t2);
 await w.overwrite('ExecutionRecord', e.record, {feeBps: 5}); console.log((await w.read('ExecutionRecord', e.record)).feeBps);
 await w.rejects([w.refundInstruction(e2)],[w.relay], 'ExecutionNotOpen');
 await w.rejects(w.settleInstructions(e),[w.relay], 'ExecutionNotOpen');
 await w.rejects(w.settleInstructions(e),[w.relay], 'ExecutionNotOpen');
});});
