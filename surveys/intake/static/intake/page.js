/** Templates of the page, filled: words are in templates/intake/, a study's texts go in as text, never as HTML. */

/**
 * Return a fresh copy of a template: only the parts whose data-when names one of the flags, with their texts put in.
 * @param {string} id
 * @param {Record<string, unknown>} [texts] In place of {name}, in text and attributes, and inside data-put="name".
 * @param {Iterable<string | false>} [flags]
 */
export function fill(id, texts = {}, flags = []) {
  const copy = document.importNode(templateOf(id).content, true);
  const holds = new Set(flags);
  for (const part of copy.querySelectorAll('[data-when]'))
    if (
      !String(part.getAttribute('data-when'))
        .split(' ')
        .some((flag) => holds.has(flag))
    )
      part.remove();
  for (const said of copy.querySelectorAll('[data-n]'))
    keepForm(/** @type {HTMLElement} */ (said), texts);
  for (const part of copy.querySelectorAll('*'))
    for (const attribute of part.attributes)
      if (attribute.value.includes('{')) attribute.value = filled(attribute.value, texts);
  const walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode())
    text.nodeValue = whole(filled(String(text.nodeValue), texts, apart));
  put(copy, texts);
  for (const picture of copy.querySelectorAll('[data-dots]')) drawDots(picture);
  return copy;
}

/** Draw 100 dots: as many full ones as a picture says, and rings. @param {Element} picture */
function drawDots(picture) {
  const full = Number(picture.getAttribute('data-dots'));
  const dots = [...Array(100).keys()].map((place) => {
    const dot = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
    dot.setAttribute('class', place < full ? 'on' : 'off');
    dot.setAttribute('cx', String(10 + 20 * (place % 10)));
    dot.setAttribute('cy', String(10 + 20 * Math.floor(place / 10)));
    dot.setAttribute('r', place < full ? '7' : '6');
    return dot;
  });
  picture.replaceChildren(...dots);
}

/**
 * Of the plural forms of a sentence keep that of its number: the one whose sample is said as the number is, else the last.
 * @param {HTMLElement} sentence @param {Record<string, unknown>} texts
 */
export function keepForm(sentence, texts) {
  const said = (/** @type {any} */ number) => new Intl.PluralRules(language()).select(number);
  const wanted = said(texts[/** @type {string} */ (sentence.dataset.n)]);
  const forms = /** @type {HTMLElement[]} */ ([...sentence.children]);
  while (forms[1] && said(forms[0].dataset.of) !== wanted) forms.shift();
  sentence.replaceChildren(...forms[0].childNodes);
}

/** @param {ParentNode} root @param {Record<string, unknown>} texts */
export function put(root, texts) {
  for (const [name, text] of Object.entries(texts))
    for (const part of root.querySelectorAll(`[data-put="${name}"]`))
      part.textContent = String(text);
}

/** Return a sentence of templates/intake/words.html. @param {string} name @param {Record<string, unknown>} [texts] */
export const word = (name, texts = {}) => filled(templateOf('words').dataset[name] ?? '', texts);

/** @param {string} text @param {Record<string, unknown>} texts @param {(text: string) => string} [made] */
const filled = (text, texts, made = (same) => same) =>
  text.replace(/\{(\w+)\}/g, (written, name) => made(String(texts[name] ?? written)));

/** Keep a text that runs from right to left from turning the numbers of the sentence it stands in. @param {string} text */
const apart = (text) => (/[\u0590-\u08ff\ufb1d-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text);

/** Keep what is one number on one line: “73 of 100”, “73 : 27”, “74 times in 100”, “question 3”. @param {string} text */
const whole = (text) =>
  text
    .replace(/(\d) (of|:|times in) (?=\d)/g, '$1\u00a0$2\u00a0')
    .replace(/(questions?) (?=\d)/gi, '$1\u00a0');

/** @param {string} id */
const templateOf = (id) => /** @type {HTMLTemplateElement} */ (find(`template#${id}`));

/**
 * Return the element that a selector names.
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {HTMLElement}
 */
export function find(selector, root = document) {
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
  const main = find('main');
  main.className = wide ? 'wide' : 'column';
  main.replaceChildren(screen);
  scrollTo(0, 0);
  if (focus) find('h1', main).focus({ preventScroll: true });
}

/** Hide the links that stand on every screen, or show them again. @param {boolean} hidden */
export function linksHidden(hidden) {
  for (const link of document.querySelectorAll('.langs a, .foot a'))
    link.toggleAttribute('hidden', hidden);
}

/** The language of this page, for numbers, lists and dates. */
export const language = () => globalThis.document?.documentElement.lang || 'en';
