/**
 * A parent process that process.test.ts kills. It forks the demo creators in the directory given, and reports their
 * process id.
 */
import { forkCreators } from './process.ts';

const creators = forkCreators(process.argv[2]);
await creators.start([{ name: 'sandbox-echo' }]);
process.send!(creators.child.pid);
