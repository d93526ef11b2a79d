import { runCommand } from '../../common/command.ts';
import { readPlan, reportOf } from './size.ts';

// npm run size: shows the needs of a fleet.
await runCommand(async () => {
  console.log(`${reportOf(readPlan(process.argv.slice(2)))}\n`);
  console.log('Formula and constants: docs/explanation/sizing.md.');
});
