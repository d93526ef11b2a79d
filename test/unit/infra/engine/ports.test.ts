import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { checkEnginePort, rememberedPorts } from '../../../../infra/engine/ports.ts';
import { answersCql } from '../../../../infra/engine/probe.ts';

let dir: string;
const servers: Server[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'millrace-ports-'));
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await rm(dir, { recursive: true });
});

async function listen(port: number, onConnection?: (socket: Socket) => void): Promise<number> {
  const server = createServer(onConnection).listen(port, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('Ports of the local Cassandra: the second start uses the same ports, except a port that another program took', async () => {
  const file = join(dir, 'ports.json');
  const first = await rememberedPorts(file, ['storage', 'jmx']);
  expect(first.storage).not.toBe(first.jmx);
  expect(await rememberedPorts(file, ['storage', 'jmx'])).toEqual(first);

  await listen(first.storage);
  const next = await rememberedPorts(file, ['storage', 'jmx']);
  expect(next.jmx).toBe(first.jmx);
  expect(next.storage).not.toBe(first.storage);
});

test('Ports of the local Cassandra: the CQL port is taken: the error proposes CQL_CONTACT_POINTS or CQL_LOCAL_PORT', async () => {
  const port = await listen(0);
  await expect(checkEnginePort(port)).rejects.toMatchObject({
    code: 'port_taken',
    message: expect.stringMatching(new RegExp(`CQL_CONTACT_POINTS=127.0.0.1:${port}.*CQL_LOCAL_PORT=\\d+`)),
  });
});

test.each([
  ['SUPPORTED', '8400000006000000020000', true],
  ['an ERROR', '8400000000000000060000000a0000', false],
  ['something that is not CQL', Buffer.from('HTTP/1.1 400 Bad Request\r\n').toString('hex'), false],
])('CQL probe: server answers with %s: only SUPPORTED is CQL', async (_, hex, answer) => {
  const port = await listen(0, (socket) => {
    socket.on('data', (request) => {
      expect(request.toString('hex')).toBe('040000000500000000');
      socket.end(Buffer.from(hex, 'hex'));
    });
  });
  expect(await answersCql({ host: '127.0.0.1', port })).toBe(answer);
});
