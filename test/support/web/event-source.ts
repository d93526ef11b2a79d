/** Stands in for EventSource: the test sends its events. */
export class FakeEventSource extends EventTarget {
  declare url: string;

  static CLOSED = 2;
  static opened: FakeEventSource[] = [];
  readyState = 1;
  isClosed = false;

  constructor(url: string) {
    super();
    this.url = url;
    FakeEventSource.opened.push(this);
  }

  static get newest(): FakeEventSource {
    return FakeEventSource.opened.at(-1) as FakeEventSource;
  }

  close() {
    this.isClosed = true;
  }

  /** @param lastEventId of the last event that had one */
  send(type: string, data: string = '', lastEventId: string = '') {
    this.dispatchEvent(Object.assign(new Event(type), { data, lastEventId }));
  }

  refuse() {
    this.readyState = FakeEventSource.CLOSED;
    this.send('error');
  }
}
