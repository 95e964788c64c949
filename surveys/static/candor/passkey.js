// @ts-check
/** Security keys: show the button where scripts run, and say in words what went wrong. allauth's scripts do the rest. */

const said = document.getElementById('key-failed');

/** @param {string} why */
function say(why) {
  if (!said) return;
  for (const line of said.querySelectorAll('[data-why]'))
    line.toggleAttribute('hidden', line.getAttribute('data-why') !== why);
  said.hidden = false;
  said.focus();
}

document.addEventListener('allauth.error', (event) => {
  event.preventDefault();
  const name = /** @type {CustomEvent} */ (event).detail?.exception?.name;
  if (name === 'InvalidStateError') say('known');
  else if (name === 'SecurityError') say('name');
  else if (name === 'SyntaxError')
    say('busy'); // the site's answer was none (429)
  else say('none');
});

for (const button of document.querySelectorAll('[data-needs-script]')) {
  button.toggleAttribute('hidden', false);
  if (window.PublicKeyCredential) continue;
  button.addEventListener(
    'click',
    (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
      say(window.isSecureContext ? 'missing' : 'name');
    },
    { capture: true },
  );
}
