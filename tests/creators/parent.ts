/** A parent to be killed: forks the demo creators and tells their process id. Started by process.test.ts. */
import { forkCreators } from './process.ts';

const creators = forkCreators();
await creators.start([{ name: 'sandbox-echo' }]);
process.send!(creators.child.pid);
