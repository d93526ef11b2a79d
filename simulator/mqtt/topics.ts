export const measurementsTopic = (device: string) => `iot/v1/${device}/measurements`;

export const birthTopic = (device: string) => `iot/v1/${device}/birth`;

export const statusTopic = (device: string) => `iot/v1/${device}/status`;

/** @param session time of the connect, in epoch ms */
export const statusPayload = (state: 'online' | 'offline', session: number): string =>
  JSON.stringify({ state, session });
