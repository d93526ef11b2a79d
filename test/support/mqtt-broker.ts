import pino from 'pino';
import { Accounts } from '../../api/access/accounts.ts';
import { ByteBudget } from '../../api/ingest/admission/byte-budget.ts';
import { type Broker, createBroker } from '../../api/mqtt/embedded/index.ts';
import { createMetrics } from '../../api/observability/metrics.ts';
import { readSettings } from '../../common/settings/index.ts';
import { topicContract } from '../../schema/topics.ts';

type BrokerOptions = Partial<Parameters<typeof createBroker>[0]>;

export async function startBrokerAlone(
  afterwards: (task: () => unknown) => void,
  options: BrokerOptions = {},
): Promise<{ broker: Broker; metrics: ReturnType<typeof createMetrics> }> {
  const metrics = createMetrics({ version: 'test', role: 'all' });
  const { mqtt } = readSettings({ MQTT_PORT: '0' }, { envFile: '' });
  const broker = createBroker({
    mqtt,
    accounts: new Accounts(mqtt),
    topics: { presence: null, readRules: [], contract: topicContract([]), hint: '' },
    maxMessageBytes: 1024 * 1024,
    handleMessage: async () => 'accepted',
    room: new ByteBudget(1024 * 1024),
    clock: Date.now,
    logger: pino({ level: 'silent' }),
    metrics,
    ...options,
  });
  await broker.start();
  afterwards(() => broker.stop());
  return { broker, metrics };
}
