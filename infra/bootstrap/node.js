import { MillraceError } from '../../common/errors.js';

const NODE_MAJOR = 20;

/** @throws {MillraceError} `tool_missing` when this Node.js is too old */
export function checkNode() {
  if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR) return;
  throw new MillraceError(
    'tool_missing',
    `Millrace needs Node.js ${NODE_MAJOR} or newer; this is ${process.versions.node}. See https://nodejs.org`,
  );
}
