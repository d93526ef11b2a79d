/** What programs need that read the topics. */
export { backlogOf } from '../backlog.ts';
export { decodeBatch, decodeWatermark } from '../decoder.ts';
export { Schemas } from '../schemas.ts';
export { connectionOptions } from './connection.ts';
export { TopicRefused } from './sender.ts';
export { TOPICS, type TopicKind, topicName, usedTopics } from './topics.ts';
