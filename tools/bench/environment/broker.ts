import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTools } from '../../../infra/bootstrap/index.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { startProgram } from '../process/program.ts';

/**
 * Persistence is on, and no limit affects a measurement. The receive maximum of the subscriber limits the messages in flight, and Mosquitto
 * drops no message.
 * @param dir folder of this broker; the broker reuses no files of another broker
 */
export async function startBroker(dir: string) {
  const { mosquitto } = await findTools(['mosquitto']);
  const port = await steadyPort();
  mkdirSync(dir, { recursive: true });
  const configuration = join(dir, 'mosquitto.conf');
  const unlimited = ['allow_anonymous true', 'max_inflight_messages 65535', 'set_tcp_nodelay true', ''];
  writeFileSync(configuration, [...persistentOn(port, dir), ...unlimited].join('\n'));
  const broker = await startProgram({
    title: 'Mosquitto',
    command: String(mosquitto?.path),
    args: ['-c', configuration],
    log: join(dir, 'mosquitto.log'),
    isReady: (log) => log.includes(' running'),
  });
  return { url: `mqtt://127.0.0.1:${port}`, ...broker };
}

export const persistentOn = (port: number, dir: string): string[] => [
  // Without this line, Mosquitto changes from root to a user that cannot write here.
  ...(process.getuid?.() === 0 ? ['user root'] : []),
  `listener ${port} 127.0.0.1`,
  'persistence true',
  `persistence_location ${dir}/`,
  'max_queued_messages 0',
];
