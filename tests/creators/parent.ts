/** A parent to be killed: forks the demo creators and tells their process id. Started by process.test.ts,
 * which names the directory. */
import { forkCreators } from './process.ts';

const creators = forkCreators(process.argv[2]);
await creators.start([{ name: 'sandbox-echo' }]);
process.send!(creators.child.pid);
