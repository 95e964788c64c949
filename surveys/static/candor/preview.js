// @ts-check
/**
 * A draft in the real form: the respondents' own scripts run as they are, and this one, which runs before them, stands at
 * their three ways out. The Plan is the draft's, nothing is posted, and nothing is kept on this device.
 */
const strip = document.getElementById('preview');
const fetched = globalThis.fetch.bind(globalThis);

/** Fetch the draft in place of the Plan; a picture as it is; send nothing. @type {typeof fetch} */
globalThis.fetch = async (input, init) => {
  const address = String(input instanceof Request ? input.url : input);
  if ((init?.method ?? 'GET') !== 'GET') throw new TypeError('a preview sends nothing');
  if (address.endsWith('/plan'))
    return fetched(strip?.dataset.plan ?? '', { credentials: 'same-origin' });
  return fetched(input, init);
};

/** The page around it is left without a question. */
addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true });

Storage.prototype.setItem = () => {};
Storage.prototype.getItem = () => null;
IDBFactory.prototype.open = () => {
  throw new DOMException('a preview keeps nothing', 'SecurityError');
};

/** Beside the page that edits it, a form takes the focus only when it has it: who moves a question by keyboard goes on. */
const { focus } = HTMLElement.prototype;
/** @param {FocusOptions} [how] */
HTMLElement.prototype.focus = function (how) {
  if (document.hasFocus()) focus.call(this, how);
};

/** "Send" ends the preview, and a ticket is not fetched: before the form hears of it. */
addEventListener(
  'click',
  (event) => {
    const button =
      event.target instanceof Element
        ? event.target.closest('[data-do="send"], [data-do="ticket"], [data-do="mark"]')
        : null;
    if (!(button instanceof HTMLElement)) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    if (button.dataset.do !== 'send') return startWithoutTicket(button);
    const end = document.getElementById('preview-end');
    const main = document.querySelector('main');
    if (!(end instanceof HTMLTemplateElement) || !main) return;
    main.replaceChildren(document.importNode(end.content, true));
    const again = main.querySelector('a');
    if (again)
      again.addEventListener('click', (press) => (press.preventDefault(), location.reload()));
    main.querySelector('h1')?.focus();
  },
  { capture: true },
);

/** Say that a ticket would be fetched, and let the questions be seen. @param {HTMLElement} button */
function startWithoutTicket(button) {
  const said = document.getElementById('preview-ticket');
  if (!(said instanceof HTMLTemplateElement)) return;
  button.closest('.row')?.replaceWith(document.importNode(said.content, true));
  document.querySelector('.welcome .act > .actions')?.removeAttribute('hidden');
  /** @type {HTMLElement | null} */ (document.querySelector('[data-do="start"]'))?.focus();
}
