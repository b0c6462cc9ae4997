/** A sweeper in a process of its own, which can be killed. */
import { runSweeper } from './runSweeper.ts';

await runSweeper(JSON.parse(process.argv[2]!));
process.send?.('ready');
