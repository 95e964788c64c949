// @ts-check
/** Buttons that copy a text of the page. Without scripts they stay hidden, and the text can be selected. */

for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!(button instanceof HTMLButtonElement) || !navigator.clipboard) continue;
  const word = button.querySelector('span');
  const source = document.getElementById(button.dataset.copy ?? '');
  if (!word || !source) continue;
  const usual = word.textContent;
  button.hidden = false;
  word.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(
      source instanceof HTMLInputElement ? source.value : source.innerText,
    );
    word.textContent = button.dataset.done ?? '';
    setTimeout(() => (word.textContent = usual), 2000);
  });
}
