/** Filling the page's own templates. Texts of a study go in as text, never as HTML. */

/**
 * Return a fresh copy of a template: only the parts whose data-when names one of the flags, with their texts put in.
 * @param {string} id
 * @param {Record<string, unknown>} [texts] By data-put.
 * @param {Iterable<string | false>} [flags]
 */
export function fill(id, texts = {}, flags = []) {
  const template = document.getElementById(id);
  if (!(template instanceof HTMLTemplateElement)) throw new Error(`page: expected a template ${id}`);
  const copy = document.importNode(template.content, true);
  const holds = new Set(flags);
  for (const part of copy.querySelectorAll('[data-when]'))
    if (!String(part.getAttribute('data-when')).split(' ').some((flag) => holds.has(flag))) part.remove();
  put(copy, texts);
  return copy;
}

/** @param {ParentNode} root @param {Record<string, unknown>} texts */
export function put(root, texts) {
  for (const [name, text] of Object.entries(texts))
    for (const part of root.querySelectorAll(`[data-put="${name}"]`)) part.textContent = String(text);
}

/**
 * Return the element that a selector names.
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {HTMLElement}
 */
export function find(root, selector) {
  const part = root.querySelector(selector);
  if (!(part instanceof HTMLElement)) throw new Error(`page: expected ${selector}`);
  return part;
}

/**
 * Show one screen; its heading takes the focus.
 * @param {DocumentFragment} screen
 * @param {{ wide?: boolean, focus?: boolean }} [how]
 */
export function show(screen, { wide = false, focus = true } = {}) {
  const main = find(document, 'main');
  main.className = wide ? 'wide' : 'column';
  main.replaceChildren(screen);
  scrollTo(0, 0);
  if (focus) find(main, 'h1').focus({ preventScroll: true });
}
