// @ts-check
/** The two coins of the home page, for people who are made up: how a share is estimated from what they send. */

/**
 * Toss for some people: tails, the true answer is sent; heads, what a second coin says.
 * @param {number} people @param {number} share Of them whose true answer is yes, 0 to 1.
 * @param {(array: Uint8Array) => Uint8Array} [random]
 * @returns {number} How many send yes.
 */
export function toss(people, share, random = (array) => crypto.getRandomValues(array)) {
  const coins = random(new Uint8Array(people));
  const yes = Math.round(people * share);
  return coins.reduce((sent, coin, at) => {
    const [first, second] = [coin & 1, (coin >> 1) & 1]; // 1: heads
    return sent + (first ? second : Number(at < yes));
  }, 0);
}

/**
 * Estimate the share from the λ that was sent: λ = ¼ + p/2, so p̂ = 2λ − ½, ± 1.96 · 2 √(λ(1 − λ)/n), kept within 0 and 1.
 * @param {number} yes @param {number} people
 */
export function estimate(yes, people) {
  const sent = yes / people;
  const found = 2 * sent - 0.5;
  const half = 1.96 * 2 * Math.sqrt((sent * (1 - sent)) / people);
  const within = (/** @type {number} */ share) => Math.min(1, Math.max(0, share));
  return { sent, found, low: within(found - half), high: within(found + half) };
}

const form = globalThis.document?.querySelector('form.coin');
if (form) begin(/** @type {HTMLFormElement} */ (form));

/** @param {HTMLFormElement} form */
function begin(form) {
  const slider = /** @type {HTMLInputElement} */ (form.querySelector('input'));
  const percent = new Intl.NumberFormat(document.documentElement.lang, {
    style: 'percent',
    maximumFractionDigits: 1,
  });
  const count = new Intl.NumberFormat(document.documentElement.lang);
  const asked = { people: 0, yes: 0 };

  const show = () => {
    const label = /** @type {HTMLElement} */ (form.querySelector('label'));
    label.textContent = said('share', { share: percent.format(Number(slider.value) / 100) });
    const { people, yes } = asked;
    const { sent, found, low, high } = estimate(yes, people);
    const texts = {
      people: count.format(people),
      yes: count.format(yes),
      share: percent.format(sent),
      sent: percent.format(sent),
      estimate: percent.format(found),
      low: percent.format(low),
      high: percent.format(high),
    };
    for (const part of form.querySelectorAll('[data-part]'))
      if (part instanceof HTMLElement)
        part.textContent = people ? said(String(part.dataset.part), texts) : '';
  };
  /** @param {string} name @param {Record<string, string>} texts */
  const said = (name, texts) =>
    String(form.dataset[name]).replace(/\{(\w+)\}/g, (_, key) => texts[key]);
  const forget = () => {
    Object.assign(asked, { people: 0, yes: 0 }); // of another share
    show();
  };

  form.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('reset', () => setTimeout(forget));
  slider.addEventListener('input', forget);
  for (const button of form.querySelectorAll('button[value]'))
    if (button instanceof HTMLButtonElement && button.value)
      button.addEventListener('click', () => {
        const people = Number(button.value);
        asked.people += people;
        asked.yes += toss(people, Number(slider.value) / 100);
        show();
      });
  show();
}
