/**
 * MQTT 3.1.1, section 4.7.1: `+` stands for one level; `#` for any number of them, also none.
 *
 * @param {string} filter valid
 * @returns {(topic: string) => boolean} whether it matches a topic that does not begin with `$`
 */
export function filterOf(filter) {
  const wanted = filter.split('/');
  return (topic) => {
    const levels = topic.split('/');
    for (const [at, level] of wanted.entries()) {
      if (level === '#') return true;
      if (at >= levels.length || (level !== '+' && level !== levels[at])) return false;
    }
    return wanted.length === levels.length;
  };
}

/** @param {string} filter valid @param {string} topic that does not begin with `$` */
export const matchesFilter = (filter, topic) => filterOf(filter)(topic);
