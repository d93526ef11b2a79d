import { EventEmitter } from 'node:events';
import type { Publish } from './index.ts';
import type { Send } from './pipeline.ts';
import type { Device } from './registry/cache.ts';

/**
 * What ingest reports: a commit, a command for devices, a new state of a device, a new device. Publishing and sending need the message
 * source, and the message source needs ingest, so events break this cycle.
 */
export class IngestEvents extends EventEmitter<{
  committed: Parameters<Publish>;
  command: Parameters<Send>;
  state: [Device];
  registered: [Device];
}> {
  /** The functions that ingest calls. */
  readonly callbacks = {
    // The function is bound, so that no wrapper function runs for each message.
    publish: (this.emit as (event: 'committed', ...committed: Parameters<Publish>) => boolean).bind(
      this,
      'committed',
    ),
    send: (...command: Parameters<Send>) => void this.emit('command', ...command),
    onState: (device: Device) => void this.emit('state', device),
    onRegistered: (device: Device) => void this.emit('registered', device),
  };
}
