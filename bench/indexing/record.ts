/** Records a history into a file: no memory or time of the process that reads it goes into that. */
import { recordHistory } from './history.ts';

recordHistory(process.argv[2]!, Number(process.argv[3]));
process.send?.({});
process.disconnect?.();
