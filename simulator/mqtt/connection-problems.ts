import { MillraceError } from '../../common/errors.ts';
import type { StatusLine } from '../../common/status-line.ts';
import { shownUrl } from './broker.ts';
import type { Broker } from './connection.ts';

/** A reason is printed once for all devices, and again after it changed or was over. */
export class ConnectionProblemReporter {
  #statusLine;
  #reported = '';

  constructor(statusLine: StatusLine) {
    this.#statusLine = statusLine;
  }

  report(reason: string) {
    if (reason !== this.#reported) this.#statusLine.print(`No connection: ${reason}; trying again`);
    this.#reported = reason;
  }

  /** All devices are connected. The next problem is then printed even if it has the same reason. */
  over() {
    this.#reported = '';
  }
}

export const refusal = ({ url, secrets }: Broker, reason: string): MillraceError =>
  new MillraceError(
    'broker_away',
    `The broker at ${shownUrl(url)} refuses us (${reason}). ${secrets ? ADVICE.file : ADVICE.settings}`,
  );

const ADVICE = {
  settings:
    'Set MQTT_USERNAME and MQTT_PASSWORD to an account of the broker, or give the devices their own --credentials.',
  file: 'Issue what is missing in the file of --credentials, or rotate what is wrong, with --file.',
};

export const neverConnected = (url: string): MillraceError =>
  new MillraceError(
    'broker_away',
    `The broker at ${shownUrl(url)} could not be reached. Check that the broker runs there. ` +
      'If npm run dev runs with another DATA_DIR or MQTT_PORT, set the same.',
  );

export const unreachable = (url: string): MillraceError =>
  new MillraceError(
    'broker_away',
    `No measurement was acknowledged by ${shownUrl(url)}. Check that the broker runs there and that what ` +
      'takes the measurements can store them.',
  );
