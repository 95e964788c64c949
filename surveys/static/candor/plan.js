// @ts-check
/** The planner while one types: an answer changes what nobody holds. The field that has the focus stays as it is, and so
 * does one that was changed after its request left; a slider and its number move together at once.
 * hx-sync drops the answers that come late. Without this script the page is a form with a button. */

/** @typedef {HTMLInputElement | HTMLSelectElement} Field */

const STATES = ['value', 'checked', 'selected']; // a field's state is its own: an attribute is only where it began

/** @type {Map<string, string>} what stood in each field when the last request left */
const sent = new Map();
/** @type {Map<string, string>} what an answer had for a field that had the focus */
const owed = new Map();

/** @param {unknown} node @returns {node is Field} */
const isField = (node) => node instanceof HTMLInputElement || node instanceof HTMLSelectElement;

/** @returns {Field[]} the fields of the planner as they stand now */
const fieldsNow = () =>
  [...document.querySelectorAll('#planner :is(input, select)[id]')].filter(isField);

/** @param {Field} field @returns {string} */
const stateOf = (field) =>
  String(field.type === 'radio' ? /** @type {HTMLInputElement} */ (field).checked : field.value);

/** @param {Field} field @param {string} state */
function setState(field, state) {
  if (field.type === 'radio') /** @type {HTMLInputElement} */ (field).checked = state === 'true';
  else if (field.value !== state) field.value = state;
}

/** Take what an answer has for a field, unless somebody is at it. @param {Field} field @param {string} state */
function take(field, state) {
  if (sent.has(field.id) && sent.get(field.id) !== stateOf(field)) return;
  if (field === document.activeElement) owed.set(field.id, state);
  else setState(field, state);
}

/** Make an element say what another says. @param {Element} old @param {Element} now */
function become(old, now) {
  const names = new Set([...old.getAttributeNames(), ...now.getAttributeNames()]);
  for (const name of names) {
    const said = now.getAttribute(name);
    if ((isField(old) || old instanceof HTMLOptionElement) && STATES.includes(name)) continue;
    if (said === null) old.removeAttribute(name);
    else if (said !== old.getAttribute(name)) old.setAttribute(name, said);
  }
  hold(old, now);
  if (isField(old) && isField(now)) take(old, stateOf(now));
}

/** Make what is inside it the same, keeping every element that can be kept. @param {Element} old @param {Element} now */
function hold(old, now) {
  let next = old.firstChild;
  for (const child of [...now.childNodes]) {
    const same = partner(next, child);
    if (!same) {
      old.insertBefore(child, next);
      continue;
    }
    remove(next, same);
    next = same.nextSibling;
    if (same instanceof Element && child instanceof Element) become(same, child);
    else if (same.nodeValue !== child.nodeValue) same.nodeValue = child.nodeValue;
  }
  remove(next, null);
}

/** Return which of the nodes from here on is the one meant: by its id, or the first one inside it; else the next of its kind.
 * @param {Node | null} from @param {Node} node @returns {Node | null} */
function partner(from, node) {
  const key = keyOf(node);
  let found = from;
  while (key && found && keyOf(found) !== key) found = found.nextSibling;
  return found && found.nodeName === node.nodeName && keyOf(found) === key ? found : null;
}

/** @param {Node} node @returns {string} */
const keyOf = (node) =>
  node instanceof Element ? node.id || node.querySelector('[id]')?.id || '' : '';

/** Remove what an answer no longer has, but not from under somebody's hands. @param {Node | null} from @param {Node | null} to */
function remove(from, to) {
  for (let node = from; node && node !== to;) {
    const gone = node;
    node = node.nextSibling;
    if (!isField(document.activeElement) || !gone.contains(document.activeElement))
      gone.parentNode?.removeChild(gone);
  }
}

// Before htmx reads the form, which it does at the field itself: so while the event is still on its way down.
document.addEventListener(
  'input',
  ({ target }) => {
    if (!isField(target)) return;
    owed.delete(target.id);
    const dial = target.id.replace('_slide', '');
    const typed = document.getElementById(dial);
    if (target.id !== dial && typed instanceof HTMLInputElement) typed.value = target.value;
    const slide = document.getElementById(`${dial}_slide`);
    if (target.id === dial && slide instanceof HTMLInputElement && Number(target.value) > 0)
      slide.value = target.value;
  },
  true,
);

document.addEventListener('focusout', ({ target }) => {
  const state = isField(target) ? owed.get(target.id) : undefined;
  if (!isField(target) || state === undefined) return;
  owed.delete(target.id);
  setState(target, state);
});

document.addEventListener('htmx:configRequest', () => {
  for (const field of fieldsNow()) sent.set(field.id, stateOf(field));
  owed.clear();
});

/** Tell whether a field says something else than the page that came. @param {Field} field @returns {boolean} */
function isChanged(field) {
  if (field instanceof HTMLSelectElement) {
    const first = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(first, 0);
  }
  if (field.type === 'radio') return field.checked !== field.defaultChecked;
  const fresh = /** @type {HTMLInputElement} */ (field.cloneNode());
  fresh.value = field.defaultValue; // within a slider's own limits
  return field.value !== fresh.value;
}

// What was changed before anything listened, or by a browser that goes back, is worked out now.
addEventListener('load', () => {
  const changed = sent.size ? undefined : fieldsNow().find(isChanged);
  const kind = changed instanceof HTMLInputElement && changed.type !== 'radio' ? 'input' : 'change';
  changed?.dispatchEvent(new Event(kind, { bubbles: true }));
});

/** @type {any} */ (window).htmx.defineExtension('hold', {
  isInlineSwap: () => true,
  /** @param {string} _style @param {Element} target @param {DocumentFragment} answer */
  handleSwap(_style, target, answer) {
    const now = answer.firstElementChild;
    if (!now) return location.reload(); // it is another page: the session has ended
    become(target, now);
    return [target];
  },
});
