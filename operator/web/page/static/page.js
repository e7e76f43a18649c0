// Makes pages live: a stream says what changed, and <main> is fetched again and swapped.
// Everything works without this file.
"use strict";
(() => {
  const data = document.body.dataset, live = document.getElementById("live");
  const firstWait = 1000, longestWait = 30000, settled = 5000, quiet = 2000; // ms
  let shown = null; // the <main> of the server, as last fetched
  let asked = 0;    // fetches, so that a late answer does not replace a newer one

  document.documentElement.classList.add("js"); // shows what needs a script

  // A button copies the command before it.
  document.addEventListener("click", async (e) => {
    const button = e.target.closest("button.copy"), from = button && button.previousElementSibling;
    if (!from) return;
    let copied = true;
    try { await navigator.clipboard.writeText(from.textContent); } catch { // not a secure context
      getSelection().selectAllChildren(from);
      copied = document.execCommand("copy");
    }
    button.textContent = copied ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });

  // keep gives the new <main> what the person has typed, opened and focused in the old one.
  function keep(old, fresh) {
    for (const e of old.querySelectorAll("input[id], textarea[id], select[id]")) {
      const to = fresh.querySelector("#" + CSS.escape(e.id));
      const typed = e.tagName === "SELECT" ? [...e.options].some((o) => o.selected !== o.defaultSelected) && e === document.activeElement : e.value !== e.defaultValue;
      if (to && e.type === "checkbox") to.checked = e.checked;
      else if (to && (typed || e === document.activeElement)) to.value = e.value;
    }
    const named = (of) => [...of.querySelectorAll('input[name="label"]:not([id])')];
    named(old).forEach((e, i) => { const to = named(fresh)[i]; if (to && e.value !== e.defaultValue) to.value = e.value; });
    const details = fresh.querySelectorAll("details");
    old.querySelectorAll("details").forEach((e, i) => { if (details[i]) details[i].open = e.open; });
  }

  // place finds the element with the focus again: by id, else the same control or link.
  function place(main) {
    const e = document.activeElement;
    if (!main.contains(e) || e === main) return () => {};
    const same = (of) => [...of.querySelectorAll(e.tagName)].filter((o) => o.getAttribute("href") === e.getAttribute("href") && o.name === e.name);
    const n = same(main).indexOf(e), at = "selectionStart" in e ? [e.selectionStart, e.selectionEnd] : null;
    return (fresh) => {
      const to = (e.id && document.getElementById(e.id)) || same(fresh)[n] || same(fresh)[0] || fresh;
      to.focus({preventScroll: true});
      if (at && at[0] !== null && to.setSelectionRange) try { to.setSelectionRange(at[0], at[1]); } catch { /* not of this type */ }
    };
  }

  async function show(url) {
    const number = ++asked;
    const answer = await fetch(url, {headers: {Accept: "text/html"}});
    if (!answer.ok) throw new Error(answer.status + " " + answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("main"), old = document.getElementById("main");
    if (number !== asked || !fresh || fresh.innerHTML === shown) return;
    shown = fresh.innerHTML;
    const focus = place(old), x = scrollX, y = scrollY, node = document.importNode(fresh, true);
    keep(old, node);
    old.replaceWith(node);
    focus(node);
    scrollTo(x, y);
    document.title = page.title;
    const header = page.querySelector("nav ol"), footer = page.querySelector("footer");
    if (header) document.querySelector("nav ol").innerHTML = header.innerHTML;
    if (footer) document.querySelector("footer").innerHTML = footer.innerHTML;
    document.body.dataset.swaps = String(Number(data.swaps || 0) + 1);
  }

  function say(on, text) {
    if (live.textContent !== text) live.textContent = text;
    live.className = on ? "on" : "off";
  }

  // A filter asks the server while the person types.
  let typing = 0;
  document.addEventListener("input", (e) => {
    const form = e.target.form;
    if (!form || !form.hasAttribute("data-filter")) return;
    clearTimeout(typing);
    typing = setTimeout(() => {
      const url = location.pathname + "?" + new URLSearchParams([...new FormData(form)].filter(([, v]) => v !== ""));
      show(url).then(() => history.replaceState(null, "", url), (err) => say(false, "not updated: " + err.message));
    }, 250);
  });

  if (!("live" in data) || !window.EventSource) return;

  // about reports whether a change can be one of this page.
  function about(change) {
    const o = change.object;
    if (!o || !data.live) return true;
    if (o.kind === data.live) return o.namespace === data.namespace && o.name === data.name;
    if (data.live === "Pod") return true;
    const workload = (kind) => ["Prometheus", "PrometheusAgent", "Alertmanager", "ThanosRuler"].includes(kind);
    return workload(o.kind) !== workload(data.live);
  }

  let due = 0, last = 0;
  function changed() {
    if (due) return;
    due = setTimeout(() => {
      due = 0;
      last = Date.now();
      show(location.href).then(() => stream && say(true, "live"), (err) => say(false, "not updated: " + err.message));
    }, Math.max(0, last + quiet - Date.now()));
  }

  let stream = null, again = 0, wait = firstWait, before = false;
  function connect() {
    const mine = stream = new EventSource(data.root + "events");
    let opened = Infinity;
    mine.onopen = () => {
      opened = Date.now();
      say(true, "live");
      if (before) changed(); // what happened meanwhile is not known
      before = true;
    };
    mine.onmessage = (e) => { if (about(JSON.parse(e.data))) changed(); };
    mine.onerror = () => {
      disconnect("not connected");
      if (Date.now() - opened > settled) wait = firstWait;
      again = setTimeout(connect, wait * (0.75 + Math.random() / 2));
      wait = Math.min(2 * wait, longestWait);
    };
  }
  function disconnect(why) {
    clearTimeout(again);
    if (stream) stream.close();
    stream = null;
    say(false, why);
  }

  // A page that nobody sees has no stream: browsers open only six connections to a server.
  function seen() {
    if (document.hidden) disconnect("paused");
    else if (!stream) { clearTimeout(again); connect(); }
  }
  document.addEventListener("visibilitychange", seen);
  addEventListener("pagehide", () => disconnect("paused"));
  addEventListener("pageshow", (e) => { if (e.persisted) seen(); });
  say(false, "connecting");
  seen();
})();
