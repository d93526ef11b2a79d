/**
 * `npm start` with a clock that is AHEAD_MS ahead, so that hours are closed for it, and with a heartbeat every HEARTBEAT_MS. A message
 * `{ stepMs }` of its parent sets its clock. Run by tests as a separate process.
 */
import pino from 'pino';
import { startSystem } from '../../../api/system.ts';
import { runCommand } from '../../../common/command.ts';
import { PERIODS_MS } from '../../../common/periods.ts';
import { readSettings } from '../../../common/settings/index.ts';

const { AHEAD_MS = 0, HEARTBEAT_MS = PERIODS_MS.heartbeat } = process.env;
const aheadMs = Number(AHEAD_MS);
let stepMs = 0;
process.on('message', (message: { stepMs: number }) => {
  stepMs = message.stepMs;
});

await runCommand(async () => {
  const logger = pino();
  const system = await startSystem({
    config: readSettings(),
    version: 'test',
    logger,
    onFatal: (error) => {
      throw error;
    },
    clock: () => Date.now() + aheadMs + stepMs,
    // A clock that is ahead all the time is correct by definition.
    clockDifference: aheadMs > 0 ? async () => 0 : undefined,
    periods: { stream: 500, heartbeat: Number(HEARTBEAT_MS) },
  });
  logger.info({ httpPort: system.httpPort, mqttPort: system.mqttPort }, 'ready');
  process.once('SIGTERM', () => void system.stop().then(() => process.exit()));
  process.once('disconnect', () => process.exit());
});
