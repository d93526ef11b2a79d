import { z } from 'zod';
import { bodyOf } from '../body.js';
import { readDevice, readQuery } from '../parameters.js';
import { answerTold } from '../told.js';

export const QUERY = {
  device: z
    .string('the device that measured')
    .meta({ description: 'The device that measured: a UUID in lower case, or a name.', example: 'my-desk' }),
};

/**
 * `POST /measurements?device=`: a message of measurements as MQTT takes it, answered after the commit.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const postMeasurements =
  ({ submit, maxMessageBytes }) =>
  async (req, res) => {
    const device = readDevice(readQuery(req, QUERY).device);
    const body = bodyOf(req, res, maxMessageBytes);
    const told = await submit({ device, contentType: req.headers['content-type'], ...body });
    answerTold(res, told);
  };
