import { forEachConcurrently } from '../../../../common/concurrency.ts';

const AT_ONCE = { devices: 2, tasks: 16 };

/** The tasks of a device begin together, so that they share the reads of its samples. */
export class RecheckQueue<Task extends { subject: { device: { id: string } } }> {
  #run;
  #onBatchEnd;
  /** By device id, the longest waiting device first. */
  #waiting: Map<string, Set<Task>> = new Map();
  /** Waiting tasks of devices whose repeated evaluations have begun. */
  #batches: Set<Set<Task>> = new Set();
  #running: Set<Task> = new Set();

  constructor({
    run,
    onBatchEnd,
  }: {
    /** evaluates a task; `running` must hold it meanwhile */
    run: (task: Task, running: Set<Task>) => Promise<void>;
    onBatchEnd: () => void;
  }) {
    this.#run = run;
    this.#onBatchEnd = onBatchEnd;
  }

  get size() {
    let size = this.#running.size;
    for (const tasks of [...this.#waiting.values(), ...this.#batches]) size += tasks.size;
    return size;
  }

  get running(): Iterable<Task> {
    return this.#running;
  }

  add(task: Task) {
    const { id } = task.subject.device;
    const tasks = this.#waiting.get(id);
    if (tasks) tasks.add(task);
    else this.#waiting.set(id, new Set([task]));
  }

  remove(task: Task) {
    const { id } = task.subject.device;
    const tasks = this.#waiting.get(id);
    if (tasks?.delete(task) && tasks.size === 0) this.#waiting.delete(id);
    for (const batch of this.#batches) batch.delete(task);
  }

  clear() {
    this.#waiting.clear();
    for (const batch of this.#batches) batch.clear();
  }

  next() {
    for (const [id, batch] of this.#waiting) {
      if (this.#batches.size >= AT_ONCE.devices) return;
      this.#waiting.delete(id);
      void this.#runBatch(batch);
    }
  }

  /** Empties `batch`, the tasks of one device. */
  async #runBatch(batch: Set<Task>) {
    this.#batches.add(batch);
    await forEachConcurrently(Math.min(AT_ONCE.tasks, batch.size), batch, (task) => {
      batch.delete(task);
      return this.#run(task, this.#running);
    });
    this.#batches.delete(batch);
    this.#onBatchEnd();
  }
}
