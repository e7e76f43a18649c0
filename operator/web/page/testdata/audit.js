// Returns what is wrong with a page, in sentences.
(() => {
  const out = [], all = [...document.querySelectorAll("*")];
  let nodes = 0;
  for (const w = document.createTreeWalker(document, NodeFilter.SHOW_ALL); w.nextNode();) nodes++;
  if (nodes > 3000) out.push(nodes + " nodes");
  if (document.documentElement.scrollWidth > innerWidth) {
    const wide = all.filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.tagName + "." + e.className).slice(-3);
    out.push("wider than the window: " + document.documentElement.scrollWidth + " (" + wide + ")");
  }

  // Landmarks and headings.
  for (const [selector, n] of [["header", 1], ["main", 1], ["footer", 1], ["h1", 1]]) {
    if (document.querySelectorAll(selector).length !== n) out.push(document.querySelectorAll(selector).length + " <" + selector + ">");
  }
  for (const nav of document.querySelectorAll("nav")) if (!nav.getAttribute("aria-label")) out.push("nav without a name");
  if (!document.documentElement.lang || !document.title) out.push("no language or title");
  let level = 0;
  for (const h of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const own = Number(h.tagName[1]);
    if (own > level + 1) out.push("h" + own + " after h" + level + ": " + h.textContent);
    if (!h.textContent.trim()) out.push("empty heading");
    level = own;
  }
  const ids = all.map((e) => e.id).filter(Boolean);
  for (const id of new Set(ids)) if (ids.indexOf(id) !== ids.lastIndexOf(id)) out.push("id " + id + " twice");

  // Names of controls and links.
  for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    if (!e.labels.length && !e.getAttribute("aria-label")) out.push("no label: " + e.outerHTML);
  }
  for (const e of document.querySelectorAll("a, button")) {
    if (!e.textContent.trim()) out.push("no text: " + e.outerHTML.slice(0, 200));
    if (e.tagName === "A" && !e.getAttribute("href")) out.push("no target: " + e.outerHTML.slice(0, 200));
  }
  for (const t of document.querySelectorAll("table")) {
    const columns = t.querySelectorAll("thead th[scope=col]").length;
    if (!columns) out.push("table without headers");
    for (const r of t.tBodies[0].rows) {
      const cells = [...r.cells].reduce((n, c) => n + c.colSpan, 0);
      if (cells !== columns) { out.push("a row of " + t.className + " has " + cells + " cells under " + columns + " headers"); break; }
    }
  }

  // Contrast of what has text of its own.
  const rgb = (s) => (s.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const background = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const poor = new Set();
  for (const e of document.body.querySelectorAll("*")) {
    const own = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()) || ["INPUT", "TEXTAREA", "SELECT"].includes(e.tagName);
    if (!own) continue;
    for (const pseudo of [null, "::before", "::placeholder"]) {
      const style = getComputedStyle(e, pseudo);
      const a = light(rgb(style.color)), b = light(background(e));
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) poor.add(e.tagName + "." + e.className + (pseudo || "") + " has contrast " + ratio.toFixed(2));
    }
  }
  return out.concat([...poor]);
})()
