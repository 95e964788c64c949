// @ts-check
/** The draft's pages: drag to reorder, fields that fit the kind, a preview that follows. Without it every page works too. */

/** Show the fields that belong to the chosen kind. */
function fit() {
  const form = document.querySelector('form[data-kind]');
  const kind = form?.querySelector('[name="kind"]');
  if (!form || !(kind instanceof HTMLSelectElement)) return;
  for (const part of form.querySelectorAll('[data-kinds]'))
    if (part instanceof HTMLElement)
      part.hidden = !String(part.dataset.kinds).split(' ').includes(kind.value);
}
document.addEventListener('change', fit);
fit();

/** Let the preview show the draft as it is now. */
document.addEventListener('htmx:afterSwap', (event) => {
  if (!(event.target instanceof Element) || event.target.id !== 'list') return;
  const preview = document.getElementById('preview');
  const address = event.target.querySelector('[data-preview]')?.getAttribute('data-preview');
  if (preview instanceof HTMLIFrameElement && address)
    preview.contentWindow?.location.replace(address); // no step of Back and Forward
  sortable();
});

/** @type {HTMLElement | null} */
let dragged = null;

/** Lists of questions can be dragged by their grips; buttons do the same for keys. */
function sortable() {
  document.querySelector('.questions')?.classList.add('sortable');
}
sortable();

document.addEventListener('pointerdown', (event) => {
  const grip = event.target instanceof Element ? event.target.closest('.grip') : null;
  if (!grip || event.button !== 0) return;
  dragged = grip.closest('li');
  dragged?.classList.add('dragged');
  grip.setPointerCapture(event.pointerId);
  event.preventDefault();
});

document.addEventListener('pointermove', (event) => {
  if (!dragged) return;
  for (const other of dragged.parentElement?.children ?? []) {
    const box = other.getBoundingClientRect();
    if (other === dragged || event.clientY < box.top || event.clientY > box.bottom) continue;
    const below = event.clientY > box.top + box.height / 2;
    if (below !== (other.nextElementSibling === dragged))
      other[below ? 'after' : 'before'](dragged);
  }
});

document.addEventListener('pointerup', drop);
document.addEventListener('pointercancel', drop);

/** Save the order in which the questions stand now. */
function drop() {
  if (!dragged) return;
  const list = dragged.parentElement;
  dragged.classList.remove('dragged');
  dragged = null;
  if (!list) return;
  const names = [...list.children]
    .map((item) => (item instanceof HTMLElement ? item.dataset.name : ''))
    .join(',');
  const token = document.querySelector('[name="csrfmiddlewaretoken"]');
  const csrf = token instanceof HTMLInputElement ? token.value : '';
  const { htmx } = /** @type {any} */ (globalThis);
  htmx.ajax('POST', list.dataset.order, {
    target: '#list',
    values: { names, csrfmiddlewaretoken: csrf, revision: list.dataset.revision ?? '' },
  });
}
