// @ts-check
/** What a researcher has typed and not saved: sent once however often a button is pressed, and kept in this tab until it
 * is saved, so that a session that ended in between loses nothing. Only a draft's own words are kept, never an answer. */

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field */

const PREFIX = 'candor.typed.';
const REVISION = 'revision';

/** @param {HTMLFormElement} form @returns {Field[]} */
function fieldsOf(form) {
  const named = 'input[name], textarea[name], select[name]';
  /** @type {Field[]} */
  const found = [...form.querySelectorAll(/** @type {any} */ (named))];
  return found.filter((field) => !['hidden', 'file', 'submit', 'password'].includes(field.type));
}

/** @param {Field} field @returns {field is HTMLInputElement} */
function isTicked(field) {
  return ['checkbox', 'radio'].includes(field.type);
}

/** @param {Field} field @returns {string} which of those of one name */
function placeOf(field) {
  return isTicked(field) ? field.value : '';
}

/** @param {Field} field @returns {string} */
function stateOf(field) {
  return isTicked(field) ? String(field.checked) : field.value;
}

/** @param {HTMLFormElement} form @returns {HTMLInputElement | null} which draft it was typed into: others may save meanwhile */
function revisionOf(form) {
  return form.querySelector(`input[name="${REVISION}"]`);
}

/** @param {HTMLFormElement} form */
function keep(form) {
  const states = fieldsOf(form).map((field) => [field.name, placeOf(field), stateOf(field)]);
  states.push([REVISION, '', revisionOf(form)?.value ?? '']);
  sessionStorage.setItem(PREFIX + location.pathname, JSON.stringify(states));
}

/** @param {HTMLFormElement} form @returns {boolean} whether anything differs from what the page came with */
function restore(form) {
  const kept = sessionStorage.getItem(PREFIX + location.pathname);
  if (!kept || form.querySelector('.errors')) return false;
  /** @type {[string, string, string][]} */
  const states = JSON.parse(kept);
  let differs = false;
  for (const field of fieldsOf(form)) {
    const state = states.find((each) => each[0] === field.name && each[1] === placeOf(field))?.[2];
    if (state === undefined || state === stateOf(field)) continue;
    differs = true;
    if (isTicked(field)) field.checked = state === 'true';
    else field.value = state;
  }
  const revision = revisionOf(form);
  if (differs && revision)
    revision.value = states.find((each) => each[0] === REVISION)?.[2] ?? revision.value;
  return differs;
}

/** Forget what was kept of a page. @param {string} path */
function forget(path) {
  sessionStorage.removeItem(PREFIX + path);
}

for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (
  document.querySelectorAll('form[data-typed]')
)) {
  const note = form.querySelector('[data-typed-back]');
  if (restore(form)) {
    if (note instanceof HTMLElement) note.hidden = false;
    form.dispatchEvent(new Event('change', { bubbles: true }));
  }
  form.addEventListener('input', () => keep(form));
  let sent = false;
  form.addEventListener('submit', (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  addEventListener('pageshow', () => (sent = false));
  form.querySelector('[data-typed-drop]')?.addEventListener('click', () => {
    forget(location.pathname);
    location.reload();
  });
}

const saved = document.querySelector('[data-typed-saved]');
if (saved instanceof HTMLElement && saved.dataset.typedSaved) forget(saved.dataset.typedSaved);
