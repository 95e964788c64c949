/** What a Plan's parts must be: small checks, and exact ratios. */

/** @param {unknown} holds @param {string} name @param {string} expected @param {unknown} got */
export function expect(holds, name, expected, got) {
  if (!holds)
    throw new Error(
      `${name}: expected ${expected}, got ${typeof got === 'string' ? got : JSON.stringify(got)}`,
    );
}

/** @param {unknown} value @param {number} least @param {number} most */
export const isInteger = (value, least, most) =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most;

export const isList = Array.isArray;

/** @param {unknown[]} items */
export const differ = (items) => new Set(items).size === items.length;

/** @param {unknown} text @param {RegExp} pattern */
export const matches = (text, pattern) => typeof text === 'string' && pattern.test(text);

/** @param {Question} question @param {boolean} [several] Whether several can be ticked. */
export function verifyChoices(question, several = false) {
  const { name, kind, choices, decline, skipped } = question;
  expect(['yes_no', 'single', 'likert'].includes(kind) || several, name, 'a known kind', kind);
  verifyTexts(question);
  const written = choices.length - decline - (skipped ?? 0);
  expect(kind === 'yes_no' ? written === 2 : written >= 2, name, 'two choices or more', choices);
}

/** @param {Question} question */
export function verifyTexts({ name, choices }) {
  const texts = isList(choices) && choices.every((choice) => matches(choice, /[^]/));
  expect(texts && differ(choices), name, 'choices that differ', choices);
}

/** Return the product of some losses: what they tell together. @param {{ found: Ratio }[]} checked @returns {Ratio} */
export const lossOfAll = (checked) =>
  checked.reduce(
    (all, { found }) => reduce(all[0] * found[0], all[1] * found[1]),
    /** @type {Ratio} */ ([1n, 1n]),
  );

/** @param {bigint} top @param {bigint} bottom @returns {Ratio} */
export function reduce(top, bottom) {
  const common = divisor(top, bottom);
  return [top / common, bottom / common];
}

/** Return the greatest number that divides both, with some sign. @param {bigint} a @param {bigint} b */
export function divisor(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}
