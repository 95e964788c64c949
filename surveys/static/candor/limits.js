// @ts-check
/** Sliders that move the ε beside them, and back. Without this script all of it is typed. */

for (const slider of document.querySelectorAll('input[type="range"][data-for]')) {
  if (slider instanceof HTMLInputElement) pair(slider);
}

/** @param {HTMLInputElement} slider */
function pair(slider) {
  const field = document.getElementById(slider.dataset.for ?? '');
  if (!(field instanceof HTMLInputElement)) return;
  slider.hidden = false;
  slider.disabled = field.matches(':disabled');
  slider.addEventListener('input', () => {
    field.value = String(Math.max(0.01, Number(slider.value)));
    const also = document.getElementById(slider.dataset.also ?? '');
    if (also instanceof HTMLInputElement) also.value = field.value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  });
  field.addEventListener('input', () => {
    if (document.activeElement !== slider) slider.value = field.value;
  });
  slider.value = field.value;
}
