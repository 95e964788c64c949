/** Where a page leads to the same study in another language, the fingerprint of the link goes along. */
for (const link of document.querySelectorAll('a[hreflang]'))
  if (link instanceof HTMLAnchorElement) link.hash = location.hash;
