/** Receives messages of Sparkplug B as its host application (setting `SPARKPLUG`). */
import { defineFeature } from '../../feature.ts';
import { CHANNELS, MESSAGES } from './channels.ts';
import { RIGHTS } from './rights.ts';
import { openEdgeTopics } from './topics.ts';

export const sparkplugFeature = defineFeature({
  name: 'sparkplug',
  channels: CHANNELS,
  messages: MESSAGES,
  topics: openEdgeTopics,
  brokerRights: () => RIGHTS,
});
