// cspell:disable: files in several languages
/**
 * Files as programs in several countries write them, each with the proposal for it, and with the first and the last sample.
 */
interface FieldFile {
  title: string;
  content: string | Buffer;
  format?: 'csv' | 'ndjson';
  /** the proposed options */
  options: Record<string, string>;
  /** options of the questions, without `device` */
  asks?: string[];
  /** of the user */
  answers?: Record<string, string>;
  first: [ts: string, sensor: string, value: number, unit: string | null];
  last: [ts: string, sensor: string, value: number, unit: string | null];
  samples: number;
}

const lines = (...all: string[]) => all.join('\r\n');
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const BERLIN = { zone: 'Europe/Berlin' };

export const FIELD_FILES: FieldFile[] = [
  {
    title: 'German logger: preamble, units in the row below, Windows-1252',
    content: latin1(
      lines(
        'testo 176T4;Seriennummer 12345678',
        'Messort;Kühlhaus 3',
        '',
        'Datum;Uhrzeit;Fühler 1;Fühler 2;Bemerkung',
        'TT.MM.JJJJ;hh:mm:ss;°C;%rF;',
        '01.11.2026;10:00:00;21,5;40,2;',
        '01.11.2026;10:10:00;-1,25;41;Tür auf',
        '',
      ),
    ),
    options: {
      encoding: 'windows-1252',
      header_line: '4',
      time: 'Datum,Uhrzeit',
      time_format: 'day-first',
      decimal: 'comma',
      values: 'Fühler 1,Fühler 2',
      units: 'row',
    },
    asks: ['encoding', 'zone'],
    answers: BERLIN,
    first: ['2026-11-01T09:00:00.000Z', 'Fühler 1', 21.5, '°C'],
    last: ['2026-11-01T09:10:00.000Z', 'Fühler 2', 41, '%rF'],
    samples: 4,
  },
  {
    title: 'Excel in German: sep=, thousands, two-digit years, units in the header',
    content: `\ufeff${lines('sep=;', 'Zeit;Leistung [W];Druck (hPa)', '01.11.26 10:00;1.234,5;1.013,2', '01.11.26 10:15;987,0;1.012,9', '')}`,
    options: {
      time: 'Zeit',
      time_format: 'day-first',
      decimal: 'comma',
      thousands: 'point',
      units: 'header',
    },
    asks: ['zone'],
    answers: BERLIN,
    first: ['2026-11-01T09:00:00.000Z', 'Leistung', 1234.5, 'W'],
    last: ['2026-11-01T09:15:00.000Z', 'Druck', 1012.9, 'hPa'],
    samples: 4,
  },
  {
    title: 'HOBO logger of the US: plot title, AM and PM, zone and units in the header, text columns',
    content: lines(
      '"Plot Title: greenhouse"',
      '"#","Date Time, GMT-05:00","Temp, °F (LGR S/N: 20, SEN S/N: 20)","RH, % (LGR S/N: 20, SEN S/N: 20)","Host Connected (LGR S/N: 20)"',
      '1,10/31/26 11:50:00 PM,71.5,40.2,',
      '2,11/01/26 12:00:00 AM,71.25,41,Logged',
      '',
    ),
    options: {
      header_line: '2',
      time: '"Date Time, GMT-05:00"',
      time_format: 'month-first',
      zone: '-05:00',
      values: '"Temp, °F (LGR S/N: 20, SEN S/N: 20)","RH, % (LGR S/N: 20, SEN S/N: 20)"',
      units: 'header',
    },
    first: ['2026-11-01T04:50:00.000Z', 'Temp', 71.5, '°F'],
    last: ['2026-11-01T05:00:00.000Z', 'RH', 41, '%'],
    samples: 4,
  },
  {
    title: 'French: semicolons, decimal comma, dd/mm/yyyy, narrow spaces in thousands',
    content: lines(
      'Horodatage;Débit (l/min);Index',
      '25/10/2026 14:05;1\u202f250,5;1',
      '25/10/2026 14:06;980,0;2',
      '',
    ),
    options: {
      time: 'Horodatage',
      time_format: 'day-first',
      decimal: 'comma',
      thousands: 'space',
      values: 'Débit (l/min)',
      units: 'header',
    },
    asks: ['zone'],
    answers: { zone: 'Europe/Paris' },
    first: ['2026-10-25T13:05:00.000Z', 'Débit', 1250.5, 'l/min'],
    last: ['2026-10-25T13:06:00.000Z', 'Débit', 980, 'l/min'],
    samples: 2,
  },
  {
    title: 'US spreadsheet: month/day decided by days over 12, thousands commas in quotes',
    content: lines('Timestamp,Flow', '10/09/2026 23:59,"1,250.5"', '10/13/2026 00:00,980.0', ''),
    options: { time_format: 'month-first', thousands: 'comma' },
    asks: ['zone'],
    answers: { zone: 'America/New_York' },
    first: ['2026-10-10T03:59:00.000Z', 'Flow', 1250.5, null],
    last: ['2026-10-13T04:00:00.000Z', 'Flow', 980, null],
    samples: 2,
  },
  {
    title: 'Home Assistant history',
    content: lines(
      'entity_id,state,last_changed',
      'sensor.kitchen_temperature,21.5,2026-11-01T09:00:00.123Z',
      'sensor.kitchen_temperature,unavailable,2026-11-01T09:05:00.000Z',
      'sensor.kitchen_temperature,21.75,2026-11-01T09:10:00.000Z',
      '',
    ),
    options: { missing: 'unavailable' },
    first: ['2026-11-01T09:00:00.123Z', 'sensor.kitchen_temperature', 21.5, null],
    last: ['2026-11-01T09:10:00.000Z', 'sensor.kitchen_temperature', 21.75, null],
    samples: 2,
  },
  {
    title: 'InfluxDB annotated CSV',
    content: lines(
      '#group,false,false,true,true,false,false,true,true',
      '#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string,string',
      '#default,_result,,,,,,,',
      ',result,table,_start,_stop,_time,_value,_field,_measurement',
      ',,0,2026-11-01T00:00:00Z,2026-11-02T00:00:00Z,2026-11-01T09:00:00Z,21.5,temperature,air',
      ',,0,2026-11-01T00:00:00Z,2026-11-02T00:00:00Z,2026-11-01T09:01:00Z,21.75,temperature,air',
      '',
    ),
    options: {},
    first: ['2026-11-01T09:00:00.000Z', 'air.temperature', 21.5, null],
    last: ['2026-11-01T09:01:00.000Z', 'air.temperature', 21.75, null],
    samples: 2,
  },
  {
    title: 'Grafana CSV: long form with other names, local times',
    content: lines(
      '"Series";"Time";"Value"',
      '"boiler";"2026-11-01T10:00:00";"61.2"',
      '"pump";"2026-11-01T10:01:00";"1"',
      '',
    ),
    options: { sensor_column: 'Series' },
    asks: ['zone'],
    answers: BERLIN,
    first: ['2026-11-01T09:00:00.000Z', 'boiler', 61.2, null],
    last: ['2026-11-01T09:01:00.000Z', 'pump', 1, null],
    samples: 2,
  },
  {
    title: 'tabs, ISO with offsets, comments',
    content: lines(
      '# station 7',
      'time\ttemp\thum',
      '2026-11-01T10:00:00+01:00\t21.5\t40',
      '# restart',
      '2026-11-01T10:10:00+01:00\t\t41',
      '',
    ),
    options: { comment: '#' },
    first: ['2026-11-01T09:00:00.000Z', 'temp', 21.5, null],
    last: ['2026-11-01T09:10:00.000Z', 'hum', 41, null],
    samples: 3,
  },
  {
    title: 'epoch seconds with a sensor and a device in each row',
    content: lines(
      'epoch,logger,channel,reading,units',
      '1793523600,l1,t,21.5,Cel',
      '1793523660.5,l1,t,21.75,Cel',
      '',
    ),
    options: {
      time: 'epoch',
      time_format: 's',
      device_column: 'logger',
      sensor_column: 'channel',
      values: 'reading',
      unit_column: 'units',
    },
    first: ['2026-11-01T09:00:00.000Z', 't', 21.5, 'Cel'],
    last: ['2026-11-01T09:01:00.500Z', 't', 21.75, 'Cel'],
    samples: 2,
  },
  {
    title: 'Excel day numbers with a decimal comma, no names',
    content: lines('46327,4166667;21,5', '46327,4236111;21,75', ''),
    options: { header_line: '0', delimiter: 'semicolon', decimal: 'comma' },
    asks: ['time'],
    answers: { time: '#1', time_format: 'excel', values: '#2', sensor: 'temp', zone: '+01:00' },
    first: ['2026-11-01T09:00:00.000Z', 'temp', 21.5, null],
    last: ['2026-11-01T09:10:00.000Z', 'temp', 21.75, null],
    samples: 2,
  },
  {
    title: 'pandas frame with an unnamed index of times, True and False',
    content: lines(
      ',temp,door',
      '2026-11-01 09:00:00+00:00,21.5,True',
      '2026-11-01 09:01:00+00:00,21.75,False',
      '',
    ),
    options: { time: '#1' },
    first: ['2026-11-01T09:00:00.000Z', 'temp', 21.5, null],
    last: ['2026-11-01T09:01:00.000Z', 'door', 0, null],
    samples: 4,
  },
  {
    title: 'ambiguous: day and month, decimal sign',
    content: lines('date;level', '03/04/2026 10:00;1,234', '03/04/2026 11:00;1,250', ''),
    options: {},
    asks: ['decimal', 'time_format', 'zone'],
    answers: { time_format: 'day-first', decimal: 'comma', zone: 'Europe/Paris' },
    first: ['2026-04-03T08:00:00.000Z', 'level', 1.234, null],
    last: ['2026-04-03T09:00:00.000Z', 'level', 1.25, null],
    samples: 2,
  },
  {
    title: 'UTF-16 with a byte order mark, as Excel saves Unicode text',
    content: Buffer.from(
      `\ufeff${lines('Zeit\tTemperatur [°C]', '01.11.2026 10:00\t21,5', '01.11.2026 10:10\t21,75', '')}`,
      'utf16le',
    ),
    options: { time: 'Zeit', time_format: 'day-first', decimal: 'comma', units: 'header' },
    asks: ['zone'],
    answers: BERLIN,
    first: ['2026-11-01T09:00:00.000Z', 'Temperatur', 21.5, '°C'],
    last: ['2026-11-01T09:10:00.000Z', 'Temperatur', 21.75, '°C'],
    samples: 2,
  },
  {
    title: 'NDJSON with names of its own',
    format: 'ndjson',
    content: lines(
      '{"zeit":"2026-11-01 10:00:00","temp":"21,5","door":true}',
      '{"zeit":"2026-11-01 10:01:00","temp":"21,75"}',
      '',
    ),
    options: { time: 'zeit', decimal: 'comma' },
    asks: ['zone'],
    answers: BERLIN,
    first: ['2026-11-01T09:00:00.000Z', 'temp', 21.5, null],
    last: ['2026-11-01T09:01:00.000Z', 'temp', 21.75, null],
    samples: 3,
  },
];
