/**
 * MQTT 3.1.1, section 4.7.1: `+` stands for one level; `#` for any number of them, also none.
 *
 * @param {string} filter valid
 * @param {string} topic that does not begin with `$`
 */
export function matchesFilter(filter, topic) {
  const wanted = filter.split('/');
  const levels = topic.split('/');
  for (const [at, level] of wanted.entries()) {
    if (level === '#') return true;
    if (at >= levels.length || (level !== '+' && level !== levels[at])) return false;
  }
  return wanted.length === levels.length;
}
