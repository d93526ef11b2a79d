/** The contract with programs that read the topics of Kafka: settings, names, schemas and decoding of records. Nothing here sends. */
export { AVRO_SCHEMAS, type AvroRecord } from './avro.ts';
export { connectionOptions } from './connection.ts';
export { decodeBatch, decodeWatermark } from './decoder.ts';
export { Schemas } from './schemas.ts';
export { KAFKA_SETTINGS, type KafkaSettings } from './settings.ts';
export { TOPICS, type TopicKind, TopicRefused, topicName, usedTopics } from './topics.ts';
