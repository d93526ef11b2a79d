/** Stands in for EventSource: the test sends its events. */
export class FakeEventSource extends EventTarget {
  static CLOSED = 2;
  /** @type {FakeEventSource[]} */
  static opened = [];
  readyState = 1;
  isClosed = false;

  /** @param {string} url */
  constructor(url) {
    super();
    this.url = url;
    FakeEventSource.opened.push(this);
  }

  /** @returns {FakeEventSource} the one that was opened last */
  static get newest() {
    return /** @type {FakeEventSource} */ (FakeEventSource.opened.at(-1));
  }

  close() {
    this.isClosed = true;
  }

  /** @param {string} type @param {string} [data] @param {string} [lastEventId] of the last event that had one */
  send(type, data = '', lastEventId = '') {
    this.dispatchEvent(Object.assign(new Event(type), { data, lastEventId }));
  }

  /** The API refuses the request. */
  refuse() {
    this.readyState = FakeEventSource.CLOSED;
    this.send('error');
  }
}
