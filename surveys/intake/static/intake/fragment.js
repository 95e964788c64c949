/** Where a link opens no form: what it brings goes along to the same study in another language, and a letter's code leaves the address. */
for (const link of document.querySelectorAll('a[hreflang]'))
  if (link instanceof HTMLAnchorElement) link.hash = location.hash;
history.replaceState(null, '', location.href.replace(/(#[^.]*).*/, '$1'));
