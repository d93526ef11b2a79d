/** Announces sensors to Home Assistant (setting `HOME_ASSISTANT_PREFIX`). */

import { defineFeature } from '../../feature.ts';
import { CHANNELS, MESSAGES } from './channels.ts';
import { HomeAssistant } from './discovery.ts';
import { HOME_ASSISTANT_SETTINGS } from './settings.ts';

export const homeAssistantFeature = defineFeature({
  name: 'home-assistant',
  settings: [HOME_ASSISTANT_SETTINGS],
  channels: CHANNELS,
  messages: MESSAGES,
  /** Home Assistant signs in with the account of the installation, so this account also gets the discovery topics. */
  brokerRights(config) {
    const { prefix } = config.of(HOME_ASSISTANT_SETTINGS);
    return { installation: prefix === undefined ? [] : [`readwrite ${prefix}/#`] };
  },
  create({ context: { config }, publishing: { live } }) {
    const { prefix } = config.of(HOME_ASSISTANT_SETTINGS);
    if (prefix !== undefined) live.follow(new HomeAssistant({ prefix, send: live.send }));
    return {};
  },
});
