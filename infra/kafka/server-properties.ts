import { join } from 'node:path';
import { MillraceError } from '../../common/errors.ts';
import { HOST } from '../engine/ports.ts';

export type KafkaSasl = {
  mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
  username: string;
  password: string;
};

/**
 * As in Kafka's default, no setting forces a sync to the disk: the operating system writes its page cache.
 * @throws `bad_settings` when `dir` has a comma: `log.dirs` is a list, so Kafka would write to two other directories
 */
export function serverProperties({
  dir,
  port,
  controller,
  sasl,
  pem,
}: {
  dir: string;
  port: number;
  controller: number;
  sasl?: KafkaSasl;
  pem?: string;
}) {
  if (dir.includes(',')) {
    throw new MillraceError(
      'bad_settings',
      `Kafka reads the comma in ${dir} as the end of a path. Choose a DATA_DIR without a comma.`,
    );
  }
  const protocol = `${sasl ? 'SASL_' : ''}${pem ? 'SSL' : 'PLAINTEXT'}`;
  return `\
# Written by infra/kafka at every start: changes made here are lost.
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@${HOST}:${controller}
listeners=CLIENTS://${HOST}:${port},CONTROLLER://${HOST}:${controller}
advertised.listeners=CLIENTS://${HOST}:${port}
listener.security.protocol.map=CLIENTS:${protocol},CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=CLIENTS
log.dirs=${escaped(join(dir, 'data'))}
num.network.threads=2
num.io.threads=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
offsets.topic.num.partitions=4
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
${sasl ? signIn(sasl) : ''}${pem ? encrypted(pem) : ''}`;
}

/** Java reads a properties file as Latin-1, with backslash escapes. */
const escaped = (text: string): string =>
  text.replace(/[\\\u0080-\uffff]/g, (unit) =>
    unit === '\\' ? '\\\\' : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function signIn({ mechanism, username, password }: KafkaSasl) {
  const account = `username="${username}" password="${password}"`;
  const login =
    mechanism === 'PLAIN'
      ? `plain.PlainLoginModule required ${account} user_${username}="${password}"`
      : `scram.ScramLoginModule required ${account}`;
  return `\
sasl.enabled.mechanisms=${mechanism}
sasl.mechanism.inter.broker.protocol=${mechanism}
listener.name.clients.${mechanism.toLowerCase()}.sasl.jaas.config=org.apache.kafka.common.security.${login};
`;
}

const encrypted = (pem: string) => `\
ssl.keystore.type=PEM
ssl.keystore.key=${part(pem, 'PRIVATE KEY')}
ssl.keystore.certificate.chain=${part(pem, 'CERTIFICATE')}
ssl.truststore.type=PEM
ssl.truststore.certificates=${part(pem, 'CERTIFICATE')}
ssl.endpoint.identification.algorithm=
`;

/** @returns the PEM sections with this label, as one line of a properties file */
const part = (pem: string, label: string): string =>
  (pem.match(new RegExp(`-----BEGIN [A-Z ]*${label}-----[^]*?-----END [A-Z ]*${label}-----\\n?`, 'g')) ?? [])
    .join('')
    .replaceAll('\n', '\\n');
